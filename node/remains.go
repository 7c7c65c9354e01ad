package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// Remains is what is left of a cluster that lost its majority: what one stopped
// member had, or a backup. Rescue founds another cluster from it.
type Remains struct {
	// Root is the state: of a member, the newest snapshot and all of the log
	// after it. What is at its end may never have been acknowledged, and what
	// was acknowledged by others may be missing.
	Root *table.Root
	// Member is the member, or the one that made the backup: "name/member-id".
	Member string
	// Term and Index are those of the last entry in the member's log, or of its
	// snapshot if no entry is after it. Of several members, the one with the
	// highest term, and of the same term with the highest index, lacks the least:
	// an election among them would choose it. Zero for a backup.
	Term, Index uint64
	// Members are the cluster's members, by the newest configuration that the
	// member had; nil for a backup.
	Members []RemainingMember
	// LogStore is how the member kept its log.
	LogStore store.LogStore
}

// RemainingMember is one member of a cluster that is rescued.
type RemainingMember struct {
	// ID is "name/member-id", Peer its address for members.
	ID, Peer string
	// Voter tells whether it had a vote.
	Voter bool
}

// replayBatch is how many entries are applied together.
const replayBatch = 256

// ReadRemains reads the data folder of a stopped member, and writes nothing
// there; the member can't start meanwhile. The errors name the folder and the
// way out. They are a *store.LockedError while it is in use; they wrap
// offset.ErrInvalid for a folder that is no member's, or of one that has never
// run; offset.ErrDamaged for one that is damaged or under quarantine, since its
// state is not to be relied on; offset.ErrLevel for one that a newer build wrote.
func ReadRemains(ctx context.Context, dir string) (*Remains, error) {
	lock, err := lockForReading(dir)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		defer lock.Close()
	}
	id, err := readMember(filepath.Join(dir, memberFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, offset.Errorf(offset.ErrInvalid, "%s is no member's data folder: it holds no %s; name the folder that --data named, or a backup", dir, memberFile)
	case err != nil:
		return nil, err
	case id.cluster.IsZero() || !id.Started:
		return nil, offset.Errorf(offset.ErrInvalid, "the member in %s has never run in a cluster; name the folder of another", dir)
	}
	if q, err := readQuarantine(dir); err != nil {
		return nil, err
	} else if q != nil {
		return nil, offset.Errorf(offset.ErrDamaged, "%s is under quarantine: its state differed from the majority's at checkpoint %d; take another member's folder, or a backup", dir, q.Checkpoint)
	}
	r := &replay{ctx: ctx, fsm: fsm.New(fsm.Config{Cluster: id.cluster}), Remains: &Remains{Member: id.Name + "/" + id.Member}}
	return r.run(filepath.Join(dir, raftFolder))
}

// lockForReading keeps a member from starting; nil for a folder without a lock,
// which a copy may be.
func lockForReading(dir string) (*os.File, error) {
	if st, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("looking at the data folder: %w", err)
	} else if !st.IsDir() {
		return nil, offset.Errorf(offset.ErrInvalid, "%s is no folder", dir)
	}
	f, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unusable(fmt.Errorf("locking the data folder: %w", err))
	}
	if busy, err := store.LockFile(f, false); err != nil {
		defer f.Close()
		if busy {
			return nil, &store.LockedError{Dir: dir, PID: lockHolder(f)}
		}
		return nil, fmt.Errorf("locking the data folder %s: %w", dir, err)
	}
	return f, nil
}

// replay brings a state machine to where a member's files end.
type replay struct {
	*Remains
	ctx     context.Context
	fsm     *fsm.FSM
	waiting []*raft.Log
}

func (r *replay) run(dir string) (*Remains, error) {
	err := store.Replay(dir, r.restore, r.entry)
	if err == nil {
		err = r.apply()
	}
	if err == nil {
		r.LogStore, err = store.KeptWith(dir)
	}
	if err != nil {
		return nil, err
	}
	r.Root = r.fsm.Root()
	return r.Remains, nil
}

func (r *replay) restore(s store.SnapshotInfo, data io.Reader) error {
	if err := r.fsm.Restore(io.NopCloser(data)); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	r.Term, r.Index = s.Meta.Term, s.Meta.Index
	r.configured(s.Meta.Configuration)
	return nil
}

// entry takes the next entry of the log.
func (r *replay) entry(l *raft.Log) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.Term, r.Index = l.Term, l.Index
	r.waiting = append(r.waiting, l)
	if len(r.waiting) < replayBatch {
		return nil
	}
	return r.apply()
}

// apply applies what waits. That the state machine latches is damage: nobody can
// tell what the entry would have done.
func (r *replay) apply() error {
	if len(r.waiting) == 0 {
		return nil
	}
	r.fsm.ApplyBatch(r.waiting)
	if err := r.fsm.Err(); err != nil {
		return err
	}
	for _, l := range r.waiting {
		if l.Type == raft.LogConfiguration { // the state machine has read it
			r.configured(raft.DecodeConfiguration(l.Data))
		}
	}
	r.waiting = r.waiting[:0]
	return nil
}

func (r *replay) configured(c raft.Configuration) {
	r.Members = nil
	for _, s := range c.Servers {
		r.Members = append(r.Members, RemainingMember{ID: string(s.ID), Peer: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
}
