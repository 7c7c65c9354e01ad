package offsetfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"iter"

	"github.com/tidemark-mq/tidemark/offset"
)

// Bounds on what is read. Beyond them a file is refused, but for names longer
// than offset.MaxName, which are skipped and listed.
const (
	// MaxBytes is the longest file, in bytes.
	MaxBytes = 4 << 30
	// MaxString is the longest string in a file, in bytes as they stand there.
	MaxString = 4 << 10
	// MaxDepth is how deep values may nest that are not offsets.
	MaxDepth = 64
	// MaxSkips is how many skipped places a report lists; all are counted.
	MaxSkips = 10_000
)

// Queue is the offset of one queue.
type Queue struct {
	// ID is the number of the queue, 0 or more.
	ID int32
	// Offset is the next message to consume, 0 or more.
	Offset int64
}

// Entry is what a file says of one group on one topic of one broker.
type Entry struct {
	Group, Topic, Broker string
	// Queues is in ascending order of ID, each once; never empty.
	Queues []Queue
}

// compare gives the order of entries in a File.
func (e *Entry) compare(o *Entry) int {
	return cmp.Or(cmp.Compare(e.Group, o.Group), cmp.Compare(e.Topic, o.Topic), cmp.Compare(e.Broker, o.Broker))
}

// File is the content of a file that was read whole. It is not changed after
// Read returned it, and may be used by many goroutines.
type File struct {
	// Entries is in ascending order of group, topic and broker, each once.
	Entries []Entry
	// Report says what was read, and what was not.
	Report Report
}

// All yields each offset in the order of offset.Key.Compare.
func (f *File) All() iter.Seq[offset.Target] {
	return func(yield func(offset.Target) bool) {
		for i := range f.Entries {
			if !f.Entries[i].each(yield) {
				return
			}
		}
	}
}

func (e *Entry) each(yield func(offset.Target) bool) bool {
	t := offset.Target{Key: offset.Key{Group: e.Group, MessageQueue: offset.MessageQueue{Topic: e.Topic, Broker: e.Broker}}}
	for _, q := range e.Queues {
		t.Key.QueueID, t.Offset = q.ID, q.Offset
		if !yield(t) {
			return false
		}
	}
	return true
}

// Offsets returns how many offsets the file holds.
func (f *File) Offsets() int {
	n := 0
	for i := range f.Entries {
		n += len(f.Entries[i].Queues)
	}
	return n
}

// Hash is the SHA-256 of what the file holds: keys, broker names included,
// and offsets, in their order. Layout, the order of keys and what was skipped
// do not count, so two files of the same hash import alike.
func (f *File) Hash() [32]byte {
	h := sha256.New()
	var b []byte
	for i := range f.Entries {
		e := &f.Entries[i]
		b = b[:0]
		for _, s := range [...]string{e.Group, e.Topic, e.Broker} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
		b = binary.AppendUvarint(b, uint64(len(e.Queues)))
		for _, q := range e.Queues {
			b = binary.AppendUvarint(b, uint64(q.ID))
			b = binary.AppendUvarint(b, uint64(q.Offset))
		}
		h.Write(b)
	}
	return [32]byte(h.Sum(nil))
}

// OfGroup returns the part of the file that belongs to one group.
func (f *File) OfGroup(group string) *File {
	g := &File{Report: f.Report}
	for _, e := range f.Entries {
		if e.Group == group {
			g.Entries = append(g.Entries, e)
		}
	}
	g.Report.Entries, g.Report.Offsets = len(g.Entries), g.Offsets()
	return g
}
