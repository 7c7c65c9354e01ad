package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// snapshots implements raft.SnapshotStore: a folder for each snapshot, written
// under a name that ends in .tmp and renamed once every byte is on the disk.
// Raft calls it from its snapshot goroutine, from its main goroutine (installs)
// and from its replicators (Open).
type snapshots struct {
	dir    string
	cfg    Config
	logger hclog.Logger
	guard  *guard
	log    *log
	stable *stable
	// abandoned is closed once no snapshot is to be written any more.
	abandoned <-chan struct{}

	mu sync.Mutex
	// noted is the index of the newest snapshot put in place, as the log file
	// has it.
	noted uint64
	// broken holds what was found out about snapshots while reading their data,
	// by id.
	broken map[string]error
	damage error
}

// List implements raft.SnapshotStore. It gives those from which this member may
// start, newest first: one that the log does not lead on from would let it start
// with less than it has acknowledged, and stop at the first commit.
func (s *snapshots) List() ([]*raft.SnapshotMeta, error) {
	infos, err := s.scan()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	newest := newestIndex(infos, s.noted)
	s.mu.Unlock()
	var metas []*raft.SnapshotMeta
	for _, i := range infos {
		if i.Err == nil && usable(i.Meta.Index, newest, s.log.ledger) {
			meta := i.Meta
			metas = append(metas, &meta)
		}
	}
	return metas, nil
}

// scan lists all, with what is known to be wrong with each.
func (s *snapshots) scan() ([]SnapshotInfo, error) {
	infos, err := scanSnapshots(s.dir)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range infos {
		if err := s.broken[infos[i].Meta.ID]; err != nil && infos[i].Err == nil {
			infos[i].Err = err
		}
	}
	return infos, nil
}

// Open implements raft.SnapshotStore. The reader checks the data while it is
// read: its last bytes come only when the sum of all is right, so that a damaged
// snapshot is never passed on whole.
func (s *snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	if _, _, ok := parseSnapshotName(id); !ok {
		return nil, nil, fmt.Errorf("opening snapshot: %q is no id of one", id)
	}
	dir := filepath.Join(s.dir, id)
	m, err := readMeta(dir)
	if err != nil {
		s.note(id, err)
		return nil, nil, err
	}
	f, err := os.Open(filepath.Join(dir, dataName))
	if err != nil {
		return nil, nil, fmt.Errorf("opening snapshot: %w", err)
	}
	meta := m.forRaft(id)
	return &meta, newReader(f, m, func(err error) { s.note(id, err) }), nil
}

// note keeps and reports what is wrong with a snapshot.
func (s *snapshots) note(id string, err error) {
	s.mu.Lock()
	s.broken[id] = err
	s.damage = err
	s.mu.Unlock()
	s.logger.Error("a snapshot is damaged", "snapshot", id, "error", err)
	if s.cfg.OnDamage != nil {
		s.cfg.OnDamage(err)
	}
}

func (s *snapshots) lastDamage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damage
}

// Create implements raft.SnapshotStore.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, _ raft.Transport,
) (raft.SnapshotSink, error) {
	if version != 1 {
		return nil, fmt.Errorf("creating snapshot: version %d is not known", version)
	}
	if err := errors.Join(s.guard.err(), s.givenUp()); err != nil {
		return nil, err
	}
	if err := s.checkFits(index, term); err != nil {
		return nil, err
	}
	if planted.Is(planted.SnapshotMissesLast) {
		index++
	}
	_, last := s.log.ledger.bounds()
	pace := s.cfg.Pace
	if index > last {
		pace = -1 // the leader's: raft does nothing else meanwhile
	}
	return newSink(s, snapshotMeta{
		Index: index, Term: term, Configuration: configuration.Clone(), ConfigurationIndex: configurationIndex,
	}, pace)
}

// givenUp is the error of whatever writes a snapshot once none is to be written.
func (s *snapshots) givenUp() error {
	select {
	case <-s.abandoned:
		return errAbandoned
	default:
		return nil
	}
}

// makeDir makes a new snapshot's folder; two at once get two names.
func (s *snapshots) makeDir(index, term uint64) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return makeSnapshotDir(s.dir, index, term)
}

// checkFits refuses a snapshot of another history than those that are here.
func (s *snapshots) checkFits(index, term uint64) error {
	infos, err := scanSnapshots(s.dir)
	if err != nil {
		return err
	}
	for _, i := range infos {
		have := i.Meta
		if (index > have.Index && term < have.Term) || (index < have.Index && term > have.Term) ||
			(index == have.Index && term != have.Term) {
			return damaged(i.Path, "index %d of term %d does not go with a snapshot of index %d, term %d: another cluster's folder",
				have.Index, have.Term, index, term)
		}
	}
	return nil
}

// placed is called when a snapshot's folder has its name, durably.
func (s *snapshots) placed(m snapshotMeta) error {
	s.mu.Lock()
	newer := m.Index > s.noted
	s.mu.Unlock()
	if newer {
		if err := s.stable.SetUint64([]byte(keySnapshotIndex), m.Index); err != nil {
			return err
		}
		s.mu.Lock()
		s.noted = max(s.noted, m.Index)
		s.mu.Unlock()
	}
	if err := s.dropContradiction(m); err != nil {
		return err
	}
	s.log.buryBefore(m.Index)
	s.reap()
	return nil
}

// dropContradiction deletes the log where its entry at the snapshot's index is
// of another term. Raft would keep it, and reject what the leader sends next,
// for ever. The snapshot is right, for it holds committed entries; what is below
// is in it, what is above was never committed. Raft has the old log's end in
// memory, so the process must end: the next start finds the snapshot and an
// empty log.
func (s *snapshots) dropContradiction(m snapshotMeta) error {
	if s.cfg.Unsafe.NoInstallGuard {
		return nil
	}
	dropped, err := s.log.dropUnless(m.Index, m.Term)
	if err != nil || !dropped {
		return err
	}
	return s.guard.fail(CauseConflict, OpInstall,
		fmt.Errorf("entry %d was not of term %d; the log has been deleted in favour of the snapshot", m.Index, m.Term))
}

// reap removes the snapshots that are no longer needed. A failure costs space,
// and is tried again after the next snapshot.
func (s *snapshots) reap() {
	infos, err := s.scan()
	if err != nil {
		s.logger.Warn("could not look for old snapshots", "error", err)
		return
	}
	good := 0
	for _, i := range infos {
		if i.Err == nil {
			good++
		}
		// A damaged one goes as soon as a newer good one is there.
		if good > s.cfg.KeepSnapshots || (i.Err != nil && good > 0) {
			s.remove(i)
		}
	}
}

// remove takes a snapshot's name away before its files, so that no half of it is
// taken for a damaged one.
func (s *snapshots) remove(i SnapshotInfo) {
	doomed := i.Path + tmpSuffix
	err := os.Rename(i.Path, doomed)
	if err == nil {
		err = SyncFolder(s.dir)
	}
	if err == nil {
		err = os.RemoveAll(doomed)
	}
	if err != nil {
		s.logger.Warn("could not remove an old snapshot", "snapshot", i.Meta.ID, "error", err)
		return
	}
	s.mu.Lock()
	delete(s.broken, i.Meta.ID)
	s.mu.Unlock()
	s.logger.Debug("removed an old snapshot", "snapshot", i.Meta.ID, "was_damaged", i.Err != nil)
}
