package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// Rescue says what Remains are made into: the data folder of the first member of
// another cluster.
type Rescue struct {
	// Dir is the folder to make. Its parent must exist; it itself must not, or
	// be empty.
	Dir string
	// Name is the member's name.
	Name string
	// LogStore is how it keeps its log.
	LogStore store.LogStore
	// Time is the clock, and By who does it, for the audit log.
	Time time.Time
	By   auth.Principal
}

// Rescued is a cluster that was founded from Remains.
type Rescued struct {
	// Member is its only member, "name/member-id".
	Member string
	// Root is the state that it begins with.
	Root *table.Root
}

// rescueTerm is the term of a rescued cluster's first snapshot. Its first leader
// has a newer one.
const rescueTerm = 1

// Check reports whether Found could do what r says, as far as that can be seen
// without writing anything. The error wraps offset.ErrInvalid.
func (r *Rescue) Check() error {
	if err := validateMemberName(r.Name); err != nil {
		return err
	}
	list, err := os.ReadDir(r.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if st, err := os.Stat(filepath.Dir(r.Dir)); err != nil || !st.IsDir() {
			return offset.Errorf(offset.ErrInvalid, "%s cannot be made: make the folder above it, or correct the path", r.Dir)
		}
	case err != nil:
		return offset.Errorf(offset.ErrInvalid, "the folder to make cannot be read: %v", err)
	case len(list) > 0:
		return offset.Errorf(offset.ErrInvalid, "%s is not empty, and holds %q: name a folder that does not exist; nothing is ever written over one", r.Dir, list[0].Name())
	}
	return nil
}

// Found makes the data folder of the first, and only, member of a new cluster,
// whose state is that of the remains at an index behind all that they hold. It
// draws the ids of both. The folder is made beside and gets its name in the end.
// After an error, and the end of ctx is one, there is none; or, as the error then
// says, it is there whole and may not survive a loss of power.
func (m *Remains) Found(ctx context.Context, r Rescue) (*Rescued, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	beside := r.Dir + ".rescue.tmp"
	switch err := os.Mkdir(beside, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return nil, offset.Errorf(offset.ErrInvalid, "%s is there: a rescue is under way, or one was broken off; if none is, remove it and run this again", beside)
	case err != nil:
		return nil, unusable(fmt.Errorf("making the folder: %w", err))
	}
	made, err := m.write(ctx, beside, r)
	if err == nil {
		err = place(beside, r.Dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("nothing was made: %w", err), os.RemoveAll(beside))
	}
	if err := store.SyncFolder(filepath.Dir(r.Dir)); err != nil {
		return nil, fmt.Errorf("%s is made as member %s of cluster %s, but may not survive a loss of power; see to the disk before its node is started: %w", r.Dir, made.Member, made.Root.Cluster(), err)
	}
	return made, nil
}

// place gives the folder its name.
func place(beside, dir string) error {
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return offset.Errorf(offset.ErrInvalid, "the empty folder %s cannot be replaced (%v): name one that does not exist, in the file system that it is to lie on", dir, err)
	}
	if err := os.Rename(beside, dir); err != nil {
		return unusable(fmt.Errorf("giving the folder its name: %w", err))
	}
	return nil
}

// write makes all files of the member in dir.
func (m *Remains) write(ctx context.Context, dir string, r Rescue) (*Rescued, error) {
	id := memberRecord{Name: r.Name, Member: drawCluster().String(), Started: true, cluster: drawCluster()}
	at := table.Stamp{Index: max(m.Index, m.Root.Index()) + 1, Time: max(m.Root.Time(), r.Time.UnixMilli())}
	t, err := m.Root.Refound(id.cluster, at)
	if err != nil {
		return nil, err
	}
	made := &Rescued{Member: id.Name + "/" + id.Member, Root: t.Root()}
	if err := made.store(ctx, filepath.Join(dir, raftFolder), r.LogStore); err != nil {
		return nil, err
	}
	if err := m.audit(dir, r, made); err != nil {
		return nil, err
	}
	return made, writeMember(dir, id)
}

// store makes raft's files: a snapshot, which says that the member is the only
// one, and the term that it is of. Where the member is it tells at its start.
func (made *Rescued) store(ctx context.Context, dir string, kept store.LogStore) (err error) {
	disk, err := store.Open(store.Config{Dir: dir, Member: made.Member, LogStore: kept})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.Close()) }()
	if err := disk.Stable().SetUint64([]byte("CurrentTerm"), rescueTerm); err != nil {
		return err
	}
	alone := raft.Configuration{Servers: []raft.Server{{Suffrage: raft.Voter, ID: raft.ServerID(made.Member), Address: nowhere}}}
	index := made.Root.Index()
	sink, err := disk.Snapshots().Create(raft.SnapshotVersionMax, index, rescueTerm, alone, index, nil)
	if err != nil {
		return err
	}
	if err := fsm.WriteSnapshot(untilDone{ctx, sink}, made.Root); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

// untilDone is a sink that takes nothing more once its context has ended.
type untilDone struct {
	ctx context.Context
	raft.SnapshotSink
}

// Write writes b, or tells why nothing is written any more.
func (w untilDone) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.SnapshotSink.Write(b)
}

// audit begins the new member's audit log with the rescue.
func (m *Remains) audit(dir string, r Rescue, made *Rescued) (err error) {
	lines, err := openAudit(dir, hclog.NewNullLogger(), func() { err = errors.New("the audit log of the new member could not be written") })
	if err != nil {
		return err
	}
	defer lines.close()
	lines.write(fsm.Record{
		Index: made.Root.Index(), Time: r.Time.UnixMilli(), Principal: r.By.Name, From: r.By.From, What: "rescue", Done: true,
		Answered: made.Root.Index(), Total: made.Root.Queues(),
		Detail: fmt.Sprintf("of=%q cluster=%s term=%d last=%d index=%d digest=%s", m.Member, m.Root.Cluster(), m.Term, m.Index, m.Root.Index(), m.Root.Digest()),
	})
	return err
}
