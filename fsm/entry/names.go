package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
)

// names is the table of shared strings of an entry being built. Reference 0 is
// the empty string, n the n-th of the table, in the order of first use.
type names struct {
	refs    map[string]uint32
	list    []string
	encoded []byte
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
	n.list = append(n.list, s)
	r := uint32(len(n.list))
	n.refs[s] = r
	n.encoded = binary.AppendUvarint(n.encoded, uint64(len(s)))
	n.encoded = append(n.encoded, s...)
	return r
}

// size is what the table takes in the entry, its count included.
func (n *names) size() int { return bin.UvarintLen(uint64(len(n.list))) + len(n.encoded) }

// truncate takes back all but the first count names, which took size bytes.
func (n *names) truncate(count, size int) {
	for _, s := range n.list[count:] {
		delete(n.refs, s)
	}
	n.list, n.encoded = n.list[:count], n.encoded[:size]
}

// reset empties the table and lets go of the strings.
func (n *names) reset() {
	clear(n.refs)
	clear(n.list)
	n.list, n.encoded = n.list[:0], n.encoded[:0]
}
