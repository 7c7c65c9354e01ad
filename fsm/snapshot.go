package fsm

import (
	"fmt"
	"io"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// Snapshot captures the published state, which costs no more than a load. It
// is refused once the FSM has latched.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) {
	if err := f.Err(); err != nil {
		return nil, fmt.Errorf("no snapshot is taken of a state machine that has stopped: %w", err)
	}
	return &snapshot{root: f.Root()}, nil
}

// snapshot is a root that is to be written.
type snapshot struct{ root *table.Root }

// Persist writes the snapshot to sink, in pieces, and closes or cancels it. It
// runs concurrently with Apply and takes no lock that Apply needs.
func (s *snapshot) Persist(sink raft.SnapshotSink) error {
	if err := WriteSnapshot(sink, s.root); err != nil {
		if cancel := sink.Cancel(); cancel != nil {
			return fmt.Errorf("writing the snapshot: %w (and it could not be removed: %v)", err, cancel)
		}
		return fmt.Errorf("writing the snapshot: %w", err)
	}
	return sink.Close()
}

// Release lets go of the root.
func (s *snapshot) Release() { s.root = nil }

// Restore replaces the state by that of a snapshot, once the whole of it has
// been read and its counts and digest match; else nothing changes. The error
// wraps offset.ErrDamaged, ErrForeignCluster or ErrLevel, or is that of r.
// Closing r is left to the caller, as raft does.
func (f *FSM) Restore(r io.ReadCloser) error {
	if err := f.Err(); err != nil {
		return fmt.Errorf("no snapshot is restored into a state machine that has stopped: %w", err)
	}
	if planted.Is(planted.RestoreEmpty) {
		f.table.Store(table.New(f.config.Cluster))
	}
	var t *table.Table
	err := guard(func() (err error) {
		t, err = ReadSnapshot(r, f.config.Cluster)
		return err
	})
	if err != nil {
		return fmt.Errorf("restoring a snapshot: %w", err)
	}
	since := f.Index()
	f.table.Store(t)
	f.waiters.wake(t.Root().Index())
	f.logger.Info("restored a snapshot", "index", t.Root().Index(), "queues", t.Root().Queues(), "groups", t.Root().Groups())
	if f.config.Audit != nil {
		f.config.Audit(Record{
			What: "gap", Since: since, Index: t.Root().Index(), Time: t.Root().Time(), Done: true,
			Detail: "reason=\"the state came from a snapshot\"",
		})
	}
	return nil
}
