//go:build !nextformat

package fsm

import (
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
)

// What later format levels add: nothing yet. A build with the tag nextformat has
// something here.

func (b *batch) later(*entry.Request, *Answer) {}

func (s *snapshotWriter) later(*table.Rest) error { return nil }

func (d *blockDecoder) later(kind byte) { d.Unknown("block of kind %d", kind) }
