package fsm

import (
	"io"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// WriteSnapshot writes what root holds to w, in pieces of 64 KiB to 1 MiB.
func WriteSnapshot(w io.Writer, root *table.Root) error { return offset.ErrDamaged }

// ReadSnapshot reads a whole snapshot of a cluster and returns its table. The
// error wraps offset.ErrDamaged, ErrForeignCluster or ErrLevel, or is that of r.
func ReadSnapshot(r io.Reader, cluster offset.ClusterID) (*table.Table, error) {
	return nil, offset.ErrDamaged
}
