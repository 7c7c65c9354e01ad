package node

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// Backup yields a backup of all that the cluster keeps, from one root that is as
// fresh as at says, in pieces of at most backupPiece bytes; it ends with the
// first error of yield. It takes no lock and waits for nothing that Apply needs,
// and is paced as a snapshot is, so that a fast reader takes no more of this
// member than that. Only the whole of it is a backup: it ends with its sum.
func (n *Node) Backup(ctx context.Context, p auth.Principal, at offset.ReadAt, yield func(offset.BackupPart) error) error {
	if err := at.Validate(); err != nil {
		return err
	}
	if err := n.allow(p, auth.Administer, auth.Everything, "backup"); err != nil {
		return err
	}
	root, r, err := n.rootAt(ctx, at)
	if err != nil {
		return err
	}
	id, err := r.backup(ctx, root, yield)
	n.administered(p, "backup", fmt.Sprintf("index=%d offsets=%d id=%s", root.Index(), root.Queues(), id), err)
	return err
}

func (r *replica) backup(ctx context.Context, root *table.Root, yield func(offset.BackupPart) error) (backup.ID, error) {
	part := offset.BackupPart{Meta: r.metaOf(root), Queues: root.Queues(), Digest: root.Digest()}
	pace := store.NewPacer(store.DefaultPace, ctx.Done())
	w := &pieces{yield: func(data []byte) error {
		if ctx.Err() != nil {
			return givenUp(ctx)
		}
		part.Data = data
		if err := yield(part); err != nil {
			return err
		}
		pace.Wait(len(data))
		return nil
	}}
	h := backup.Header{Time: r.config.Clock().UnixMilli(), Node: r.id, Build: r.config.Version}
	id, err := backup.Write(w, h, root)
	if err != nil {
		return id, err
	}
	return id, w.flush()
}

// backupPiece is how many bytes of a backup travel together.
const backupPiece = 256 << 10

// pieces is a writer that yields what it is given in pieces of backupPiece
// bytes, the last of which is shorter.
type pieces struct {
	yield func([]byte) error
	buf   bytes.Buffer
}

var _ io.Writer = (*pieces)(nil)

// Write collects b and yields what is full.
func (w *pieces) Write(b []byte) (int, error) {
	w.buf.Write(b)
	for w.buf.Len() >= backupPiece {
		if err := w.yield(w.buf.Next(backupPiece)); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// flush yields what is left.
func (w *pieces) flush() error {
	if w.buf.Len() == 0 {
		return nil
	}
	return w.yield(w.buf.Bytes())
}
