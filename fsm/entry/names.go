package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
)

// The tables of names that an entry begins with, in this order. Each place in
// a request refers to one of them, so that similar names stand together.
const (
	tableGroups = iota
	tableTopics
	tableBrokers
	tableOthers // principals, addresses, ids, holders
	tables
)

// maxExpanded bounds the names of an entry at their full length, since they
// are written shorter. Any request of names that are allowed stays below it.
const maxExpanded = 16 << 20

// names is one table of an entry being built. Reference 0 is the empty string,
// n the n-th of the table, in the order of first use. A name is written as its
// difference to the one before: how many bytes it begins with alike, and the rest.
type names struct {
	refs     map[string]uint32
	list     []string
	encoded  []byte
	expanded int // bytes of the names at full length
}

// ref returns the reference of s, which is at most MaxString long.
func (n *names) ref(s string) uint32 {
	if s == "" {
		return 0
	}
	if r, ok := n.refs[s]; ok {
		return r
	}
	if n.refs == nil {
		n.refs = make(map[string]uint32)
	}
	shared := 0
	if len(n.list) > 0 {
		shared = bin.SharedLen(n.list[len(n.list)-1], s)
	}
	n.list = append(n.list, s)
	r := uint32(len(n.list))
	n.refs[s] = r
	n.expanded += len(s)
	n.encoded = binary.AppendUvarint(n.encoded, uint64(shared))
	n.encoded = binary.AppendUvarint(n.encoded, uint64(len(s)-shared))
	n.encoded = append(n.encoded, s[shared:]...)
	return r
}

// size is what the table takes in the entry, its count included.
func (n *names) size() int { return bin.UvarintLen(uint64(len(n.list))) + len(n.encoded) }

// undo takes back what was added since before was copied.
func (n *names) undo(before *names) {
	for _, s := range n.list[len(before.list):] {
		delete(n.refs, s)
	}
	n.list, n.encoded, n.expanded = n.list[:len(before.list)], n.encoded[:len(before.encoded)], before.expanded
}

// reset empties the table and lets go of the strings.
func (n *names) reset() {
	clear(n.refs)
	clear(n.list)
	n.list, n.encoded, n.expanded = n.list[:0], n.encoded[:0], 0
}
