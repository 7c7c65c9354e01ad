package client

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// LocalFileStore is the OffsetStore of a consumer in broadcasting mode, where
// every consumer reads all messages and keeps its progress itself: RocketMQ's
// LocalFileOffsetStore. The memory takes every update at once; PersistAll,
// Persist and the persist loop write what changed to
//
//	<folder>/<client id>/<group>/offsets.json
//
// in the form of RocketMQ's Java client, which can take the folder over, and
// whose folder can be taken over; so can that of rocketmq-client-go: where there
// is no offsets.json, the store continues from <folder>/<group>/<client id>/offset.json,
// or from an offset.json in its own place, and leaves it as it is. The file
// before is offsets.json.bak. Both are replaced as a whole, so that a crash or a
// loss of power at any moment leaves one that is good.
//
// A file that is not good is never overwritten. If the .bak is, the store goes
// on from it, says so, and moves the other aside when it writes; else Load
// fails, and each persist. One store and one process use a folder: two of the
// same client id and group overwrite one another's offsets, in RocketMQ as here.
//
// Create it, Load it, and Close it, also if Load failed.
type LocalFileStore struct {
	key   offset.Key // its group is set
	files localFiles
	set   storeSettings
	loop  *loop
	said  repeats
	// persisting is held by whoever reads the files or writes them.
	persisting chan struct{}
	// swept: old temporary files were looked for; it belongs to whoever holds persisting.
	swept bool

	mu sync.Mutex
	// The fields below belong to mu.

	closed bool
	table  map[offset.MessageQueue]*localEntry
	// counts are the counters of StoreStats.
	counts StoreStats
}

// localEntry is what a LocalFileStore holds of one queue.
type localEntry struct {
	value int64
	// saved is the value that is in the file, if isSaved.
	saved   int64
	isSaved bool
	// still: the application froze the value.
	still bool
}

func (e *localEntry) dirty() bool { return !e.isSaved || e.saved != e.value }

var _ OffsetStore = (*LocalFileStore)(nil)

// NewLocalFileStore returns the store of a consumer group on this machine. It
// does no I/O. Client id and group become names of folders: what is no plain
// name there ("a/b", "..") is refused with an error that wraps
// offset.ErrInvalid, and so is an unknown home folder where no other folder is
// set. Its persist loop runs until Close.
func NewLocalFileStore(clientID, group string, opts ...StoreOption) (*LocalFileStore, error) {
	set := settleStore(settings{}, opts)
	dir, err := localFolder(set.dir)
	if err != nil {
		return nil, err
	}
	for field, name := range map[string]string{"client id": clientID, "group": group} {
		if err := folderName(field, name); err != nil {
			return nil, err
		}
	}
	s := &LocalFileStore{
		key:        offset.Key{Group: group},
		files:      newLocalFiles(dir, clientID, group, &set),
		set:        set,
		persisting: make(chan struct{}, 1),
		table:      make(map[offset.MessageQueue]*localEntry),
	}
	s.loop = startLoop(set.pace(), s.tick)
	return s, nil
}

// Path is where the offsets are kept.
func (s *LocalFileStore) Path() string { return s.files.path(localName) }

// Stats gives the state of the store.
func (s *LocalFileStore) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.counts
	st.Queues = len(s.table)
	for _, e := range s.table {
		if e.dirty() {
			st.Unpersisted++
		}
	}
	return st
}

// Load reads the file into memory, except for queues that are there already. No
// file at all means that the consumer is new. The error wraps offset.ErrDamaged if
// there are files and none is good, names both with their first fault, and
// says what to do; with WithDamageIgnored they are moved aside instead, and
// the error is that of moving them.
func (s *LocalFileStore) Load() error {
	s.persisting <- struct{}{}
	defer func() { <-s.persisting }()
	st, err := s.files.state()
	if err != nil && s.set.ignoreDamage {
		st, err = &state{}, s.moveAside(err)
	}
	if err != nil {
		return s.fault("load", err)
	}
	s.note(st)
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, n := range st.offsets() {
		if s.table[mq] == nil && n >= 0 && s.keyOf(mq).Validate() == nil {
			s.table[mq] = &localEntry{value: n, saved: n, isSaved: st.from == st.ours.main}
		}
	}
	return nil
}

// moveAside renames the files that are not good, for the reason found.
func (s *LocalFileStore) moveAside(why error) error {
	var names []string
	list := s.files.damagedFiles()
	if i := slices.IndexFunc(list, (*localFile).unread); i >= 0 {
		return offset.Errorf(offset.ErrDamaged, "%s; nothing was changed, since it may be good: see to the disk, or move it away", describeFile(list[i]))
	}
	for _, f := range list {
		to, err := s.files.aside(f)
		if err != nil {
			return err
		}
		names = append(names, to)
		if err := s.files.disk.syncDir(filepath.Dir(to)); err != nil {
			return fmt.Errorf("syncing the folder: %w", err)
		}
	}
	s.mu.Lock()
	s.counts.Damaged += uint64(len(names))
	s.mu.Unlock()
	s.set.logger.Warn("damaged files of offsets were moved aside; this consumer begins without offsets",
		"group", s.key.Group, "cause", why, "moved to", names)
	return nil
}

// note logs what is unusual about the files, once for as long as it is the same.
func (s *LocalFileStore) note(st *state) {
	if !s.said.news("note", st.note) {
		return
	}
	if st.from != nil && st.from != st.ours.main {
		s.mu.Lock()
		s.counts.Fallbacks++
		s.mu.Unlock()
	}
	s.set.logger.Warn("local offsets: "+st.note, "group", s.key.Group)
}

// UpdateOffset takes the next message to consume into memory: the larger of it
// and what is there if increaseOnly, else this one. A negative one is ignored,
// and so is any for a queue that is frozen.
func (s *LocalFileStore) UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool) {
	s.update(mq, next, increaseOnly, false)
}

// UpdateAndFreezeOffset takes this offset into memory and ignores further
// updates until RemoveOffset. It is persisted like any other.
func (s *LocalFileStore) UpdateAndFreezeOffset(mq offset.MessageQueue, next int64) {
	s.update(mq, next, false, true)
}

func (s *LocalFileStore) update(mq offset.MessageQueue, next int64, increaseOnly, freeze bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.table[mq]
	switch {
	case s.closed || next < 0:
		return
	case e == nil:
		s.table[mq] = &localEntry{value: next, still: freeze}
		return
	case freeze:
		e.value, e.still = next, true
	case !e.still && (!increaseOnly || next > e.value):
		e.value = next
	}
}

// force takes an offset into memory, whatever is there; where nothing is, only
// if so told.
func (s *LocalFileStore) force(mq offset.MessageQueue, next int64, absent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.table[mq]; e != nil {
		e.value = next
	} else if absent {
		s.table[mq] = &localEntry{value: next}
	}
}

// RemoveOffset drops one queue from memory, persisted or not; what the file
// says of it stays. A value that is not in the file is logged and told by
// StoreHooks.Failed, with offset.ErrDropped.
func (s *LocalFileStore) RemoveOffset(mq offset.MessageQueue) {
	s.mu.Lock()
	e := s.table[mq]
	lost := localEntry{isSaved: true}
	if e != nil {
		lost = *e
	}
	delete(s.table, mq)
	s.mu.Unlock()
	if lost.dirty() {
		s.set.dropped(s.keyOf(mq), lost.value)
	}
}

// CloneOffsetTable copies the memory: of a topic, or all if topic is empty.
func (s *LocalFileStore) CloneOffsetTable(topic string) map[offset.MessageQueue]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[offset.MessageQueue]int64, len(s.table))
	for mq, e := range s.table {
		if topic == "" || mq.Topic == topic {
			out[mq] = e.value
		}
	}
	return out
}

// Close ends the persist loop, persists what changed, and returns what it
// could not, as a *PersistError. Updates are ignored from then on. Where the
// disk hangs it returns with ctx, and one goroutine stays until the disk
// answers. Called again it tries again with what is left.
func (s *LocalFileStore) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.loop.end(ctx)
	return s.save(ctx, anyQueue, nil)
}

func (s *LocalFileStore) keyOf(mq offset.MessageQueue) offset.Key {
	return offset.Key{Group: s.key.Group, MessageQueue: mq}
}

// fault makes the error of a call.
func (s *LocalFileStore) fault(op string, err error) error {
	return &Error{Op: op + " local offsets", Subject: s.key.Group, Err: err}
}

// open returns the error of a store that was closed.
func (s *LocalFileStore) open(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.fault(op, errStoreShut)
	}
	return nil
}
