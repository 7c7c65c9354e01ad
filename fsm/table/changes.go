package table

import "github.com/tidemark-mq/tidemark/offset"

// Change is what an act did to one key.
type Change struct {
	Key           offset.Key
	Before, After offset.KeyState
}

// Changes collects what the acts of one request changed, for the audit log: how
// many keys, and the first offset.MaxNames of them. The zero value is ready to
// use; a nil *Changes collects nothing.
type Changes struct {
	// Total is how many keys were moved or removed; of a replace, how many it
	// brought in.
	Total uint64
	// Replaced is how many keys there were where a replace has put its own; what
	// of them it did not bring in again is gone.
	Replaced uint64
	// Lowered counts, of a replace, the keys that it has at a lower offset than
	// they had before; nil for all else. It looks at every key when it is called,
	// once or not at all and on any goroutine, and holds what was replaced until
	// it is forgotten.
	Lowered func() uint64
	// First holds the first keys of Total, in the order in which they were
	// changed; of a replace then the first found that are gone.
	First []Change
}

// Reset empties it for the next request and keeps its memory.
func (c *Changes) Reset() {
	if c != nil {
		c.Total, c.Replaced, c.Lowered, c.First = 0, 0, nil, c.First[:0]
	}
}

// wants reports whether the next change is to be described.
func (c *Changes) wants() bool { return c != nil && len(c.First) < offset.MaxNames }

func (c *Changes) count(n uint64) {
	if c != nil {
		c.Total += n
	}
}

func (c *Changes) replaces(n uint64) {
	if c != nil {
		c.Replaced += n
	}
}
