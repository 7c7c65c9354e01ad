//go:build nextformat

package fsm

import (
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
)

const blockLater = 9

// later applies a request of a later level.
func (b *batch) later(r *entry.Request, a *Answer) {
	if r.Later.Count {
		b.table.Count()
		a.Digest = b.table.Digest()
		b.marks = append(b.marks, mark{b.index, a.Digest})
	}
}

// later writes what later levels hold.
func (s *snapshotWriter) later(r *table.Rest) error {
	if r.Level < 2 {
		return nil
	}
	return each(s, blockLater, []table.Later{r.Later}, func(l *table.Later) { s.numbers(l.Counted) })
}

// later reads a block of a kind that level 1 does not have.
func (d *blockDecoder) later(kind byte) {
	if kind != blockLater {
		d.Unknown("block of kind %d", kind)
		return
	}
	d.rest.Later.Counted = d.Uvarint()
}
