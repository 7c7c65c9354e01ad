package offsetfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// baseFile is an earlier file that the offsets are laid over.
type baseFile struct {
	members []baseMember
	entries map[string]*baseEntry
	// keys is the order of the file.
	keys   []string
	hasLMQ bool
	last   *baseEntry
}

// baseMember is a top-level member that holds no offsets, its bare keys quoted.
type baseMember struct {
	name  string
	value []byte
}

type baseEntry struct {
	lmq    bool
	queues []Queue
	// taken: it has been written.
	taken bool
}

// readBase reads the file that stays where the cluster has nothing.
func readBase(r io.Reader) (*baseFile, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	s := newScanner(bytes.NewReader(data))
	if _, err := s.prologue(); err != nil {
		return nil, err
	}
	b := &baseFile{entries: map[string]*baseEntry{}}
	p := newParser(s, b)
	var bare []int64
	p.bare = func(from, to int64) { bare = append(bare, from, to) }
	p.member = func(name string, from, to int64) {
		b.members = append(b.members, baseMember{name, quoteBare(data[from:to], from, bare)})
		bare = bare[:0]
	}
	if err := p.file(); err != nil {
		return nil, err
	}
	b.hasLMQ = slices.Contains(p.members, lmqTable)
	return b, nil
}

// quoteBare puts the bare keys of a value, given as pairs of places in the
// file, into quotes. value begins at from.
func quoteBare(value []byte, from int64, bare []int64) []byte {
	out := make([]byte, 0, len(value)+len(bare))
	at := int64(0)
	for _, place := range bare {
		out = append(out, value[at:place-from]...)
		out = append(out, '"')
		at = place - from
	}
	return append(out, value[at:]...)
}

func (b *baseFile) entry(key string, lmq bool, _ Position) error {
	b.last = &baseEntry{lmq: lmq}
	b.entries[key] = b.last
	b.keys = append(b.keys, key)
	return nil
}

func (b *baseFile) queue(id int32, n int64, _ Position) {
	b.last.queues = append(b.last.queues, Queue{id, n})
}

func (b *baseFile) end() {}

func (b *baseFile) inTable(k offset.Key) bool {
	e := b.entries[k.Topic+"@"+k.Group]
	return e != nil && !e.lmq
}

// overlay returns q, in the order of ids, with the queues that only the base
// has, and marks the entry as taken.
func (b *baseFile) overlay(key string, q []Queue) []Queue {
	e := b.entries[key]
	if e == nil || e.taken {
		return q
	}
	e.taken = true
	out := slices.Clone(q)
	for _, old := range e.queues {
		if !slices.ContainsFunc(q, func(x Queue) bool { return x.ID == old.ID }) {
			out = append(out, old)
		}
	}
	slices.SortFunc(out, func(x, y Queue) int { return int(x.ID) - int(y.ID) })
	return out
}
