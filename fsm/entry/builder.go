package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
	"github.com/tidemark-mq/tidemark/offset"
)

// MaxRuns is how many runs of commits or of an act's keys (each a group on one
// topic of one broker) may come together in an entry. However few queues a run
// has, it costs the table some 5 µs of processor time where it is new or far, and
// twice that next to other work; the bound keeps an Apply well below 50 ms. Only a
// request that can't be cut has more, and is then alone. An act on whatever its
// scope holds counts as MaxRuns: one of its entries may cost as much as all of them.
const MaxRuns = 2500

// Builder collects requests into one entry. Each is encoded once, when it is
// added; Seal only joins the parts. It belongs to one goroutine.
type Builder struct {
	cluster offset.ClusterID
	level   uint8

	names [tables]names
	body  []byte // the requests, encoded
	count int
	runs  int  // of all requests
	alone bool // what is in it must stay by itself

	// The caller of the last request, which the next may share.
	principal, from string
}

// NewBuilder returns an empty Builder of entries of a cluster at a level.
func NewBuilder(cluster offset.ClusterID, level uint8) *Builder {
	return &Builder{cluster: cluster, level: level}
}

// Add appends a request. On an error nothing is added: offset.ErrInvalid if
// the request can't be written at all, offset.ErrBusy if it can't join what
// is there already (Seal first, Reset, and add it again).
func (b *Builder) Add(r *Request) error {
	if b.count > 0 && (b.alone || r.Alone()) {
		return offset.Errorf(offset.ErrBusy, "the request must be alone in its log entry")
	}
	if b.count == MaxRequests {
		return offset.Errorf(offset.ErrBusy, "the log entry holds %d requests already", b.count)
	}
	before := *b
	err := b.encode(r)
	if err == nil {
		b.count++
		b.alone = r.Alone()
		err = b.checkLen()
	}
	if err != nil {
		b.undo(&before)
	}
	return err
}

func (b *Builder) checkLen() error {
	expanded := 0
	for i := range b.names {
		expanded += b.names[i].expanded
	}
	switch {
	case b.Len() <= MaxEntry && expanded <= maxExpanded && (b.count == 1 || b.runs <= MaxRuns):
		return nil
	case b.count == 1:
		return invalid("the request takes %d bytes in the log; at most %d are possible", b.Len(), MaxEntry)
	}
	return offset.Errorf(offset.ErrBusy, "the log entry is full")
}

// undo takes back what was done since before was copied.
func (b *Builder) undo(before *Builder) {
	for i := range b.names {
		b.names[i].undo(&before.names[i])
	}
	b.body = b.body[:len(before.body)]
	b.count, b.alone, b.runs = before.count, before.alone, before.runs
	b.principal, b.from = before.principal, before.from
}

// Len is the length of the entry that Seal would return now, in bytes.
func (b *Builder) Len() int {
	n := headLen + bin.UvarintLen(uint64(b.count)) + len(b.body)
	for i := range b.names {
		n += b.names[i].size()
	}
	return n
}

// Count is the number of requests added since the last Reset.
func (b *Builder) Count() int { return b.count }

// Seal returns the entry with the leader's time in it, in memory of its own:
// raft keeps it for long. The Builder can be used further or be Reset.
func (b *Builder) Seal(timeMS int64) []byte {
	e := make([]byte, headLen, b.Len())
	e[0], e[1], e[levelAt], e[kindAt] = magic0, magic1, b.level, kindRequests
	copy(e[clusterAt:], b.cluster[:])
	putTime(e[timeAt:], timeMS)
	for i := range b.names {
		e = binary.AppendUvarint(e, uint64(len(b.names[i].list)))
		e = append(e, b.names[i].encoded...)
	}
	e = binary.AppendUvarint(e, uint64(b.count))
	return append(e, b.body...)
}

// Reset empties the Builder and keeps its memory.
func (b *Builder) Reset() {
	for i := range b.names {
		b.names[i].reset()
	}
	b.body = b.body[:0]
	b.count, b.alone, b.runs = 0, false, 0
	b.principal, b.from = "", ""
}
