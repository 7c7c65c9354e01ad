package entry

import "github.com/tidemark-mq/tidemark/offset"

// Builder collects requests into one entry. Each is encoded once, when it is
// added; Seal only joins the parts. It belongs to one goroutine.
type Builder struct {
	cluster offset.ClusterID
	level   uint8
}

// NewBuilder returns an empty Builder of entries of a cluster at a level.
func NewBuilder(cluster offset.ClusterID, level uint8) *Builder {
	return &Builder{cluster: cluster, level: level}
}

// Add appends a request. On an error nothing is added: offset.ErrInvalid if
// the request can't be written at all, offset.ErrBusy if it can't join what
// is there already (Seal first, Reset, and add it again).
func (b *Builder) Add(r *Request) error { return offset.ErrInvalid }

// Len is the length of the entry that Seal would return now, in bytes.
func (b *Builder) Len() int { return 0 }

// Count is the number of requests added since the last Reset.
func (b *Builder) Count() int { return 0 }

// Seal returns the entry with the leader's time in it, in memory of its own:
// raft keeps it for long. The Builder can go on or be Reset.
func (b *Builder) Seal(timeMS int64) []byte { return nil }

// Reset empties the Builder and keeps its memory.
func (b *Builder) Reset() {}

// Size returns the length of an entry that holds nothing but r: at most that
// much, and two bytes for each of its names, is what r adds to another. It is
// MaxEntry+1 for a request that Add would refuse as invalid.
func Size(r *Request) int { return MaxEntry + 1 }
