package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
)

// chunkBytes is how much of a snapshot is written at once.
const chunkBytes = 256 << 10

var (
	errCancelled = errors.New("snapshot was cancelled")
	errAbandoned = errors.New("snapshots are given up: the member ends")
)

// sink implements raft.SnapshotSink. After any error nothing of the snapshot is
// left on the disk.
type sink struct {
	store *snapshots
	meta  snapshotMeta
	id    string
	tmp   string
	pace  *Pacer

	mu       sync.Mutex
	file     *os.File
	buf      []byte
	sum      uint32
	unsynced int
	ended    bool
	err      error // of the first thing that failed; what Close returns once ended
}

func newSink(s *snapshots, meta snapshotMeta, rate int) (*sink, error) {
	k := &sink{
		store: s, meta: meta,
		pace: NewPacer(rate, s.abandoned), buf: make([]byte, 0, chunkBytes),
	}
	err := s.guard.watched(OpSnapshot, func() (err error) {
		k.id, err = s.makeDir(meta.Index, meta.Term)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("creating snapshot: %w", err)
	}
	k.tmp = filepath.Join(s.dir, k.id+tmpSuffix)
	k.file, err = os.OpenFile(filepath.Join(k.tmp, dataName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		err = fmt.Errorf("creating snapshot: %w", err)
		k.abandon(err)
		return nil, err
	}
	return k, nil
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.id }

// Write implements raft.SnapshotSink. It waits where the snapshot is ahead of
// its pace.
func (k *sink) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended && k.err == nil {
		return 0, fmt.Errorf("writing snapshot: %w", os.ErrClosed)
	}
	n := 0
	for n < len(p) && k.err == nil {
		take := min(len(p)-n, cap(k.buf)-len(k.buf))
		k.buf = append(k.buf, p[n:n+take]...)
		n += take
		if len(k.buf) == cap(k.buf) {
			k.flushLocked()
		}
	}
	return n, k.err
}

// flushLocked writes the chunk out, and syncs where enough has been written: a
// sync of everything at the end would hold up the log's for seconds.
func (k *sink) flushLocked() {
	if len(k.buf) == 0 || k.err != nil {
		return
	}
	k.sum = crc32.Update(k.sum, castagnoli, k.buf)
	k.doLocked(OpSnapshot, func() error {
		_, err := k.file.Write(k.buf)
		return err
	})
	k.meta.Size += int64(len(k.buf))
	k.unsynced += len(k.buf)
	k.pace.Wait(len(k.buf))
	k.buf = k.buf[:0]
	if k.unsynced >= k.store.cfg.SyncEvery {
		k.doLocked(OpSnapshotSync, func() error { return syncData(k.file) })
		k.unsynced = 0
	}
}

// doLocked does one step unless one has failed before, or the member ends. The guard
// watches it: a disk that hangs here hangs for the log as well.
func (k *sink) doLocked(op Op, step func() error) {
	if k.err == nil {
		k.err = k.store.givenUp()
	}
	if k.err != nil {
		return
	}
	if err := k.store.guard.watched(op, step); err != nil {
		k.err = fmt.Errorf("could not %s: %w", op, err)
	}
}

// Close implements raft.SnapshotSink. When it returns nil the snapshot is on the
// disk and listed. Further calls return the same; after Cancel it is an error,
// for raft would compact the log on the strength of a nil.
func (k *sink) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return k.err
	}
	k.flushLocked()
	k.doLocked(OpSnapshotSync, func() error { return syncData(k.file) })
	k.doLocked(OpSnapshot, k.file.Close)
	k.doLocked(OpSnapshot, k.writeMeta)
	k.doLocked(OpSnapshotSync, func() error { return SyncFolder(k.tmp) })
	path := filepath.Join(k.store.dir, k.id)
	k.doLocked(OpSnapshotMove, func() error { return os.Rename(k.tmp, path) })
	k.doLocked(OpSnapshotMove, func() error { return SyncFolder(k.store.dir) })
	if k.err != nil {
		k.abandon(k.err)
		return k.err
	}
	k.ended = true
	k.err = k.store.placed(k.meta)
	return k.err
}

func (k *sink) writeMeta() error {
	k.meta.DataSum = sumText(k.sum)
	data, err := k.meta.encode()
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(k.tmp, metaName), data)
}

// Cancel implements raft.SnapshotSink. It leaves nothing behind. After Close it
// does nothing.
func (k *sink) Cancel() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return nil
	}
	if k.err == nil {
		k.err = errCancelled
	}
	return k.abandon(k.err)
}

// abandon removes all there is of the snapshot.
func (k *sink) abandon(cause error) error {
	k.ended = true
	if k.file != nil {
		_ = k.file.Close() // the bytes are of no use
	}
	err := errors.Join(os.RemoveAll(k.tmp), os.RemoveAll(filepath.Join(k.store.dir, k.id)))
	if err != nil {
		k.store.logger.Error("could not remove an unfinished snapshot; the next start will", "snapshot", k.id, "error", err)
		return fmt.Errorf("removing an unfinished snapshot: %w", err)
	}
	k.store.logger.Warn("gave a snapshot up", "snapshot", k.id, "reason", cause)
	return nil
}
