//go:build linux

package disk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	gosync "sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// sector is what a disk writes whole.
const sector = 512

// journal holds how to undo what was changed and not synced. A change of a file
// is durable once that file was synced, a change of names once its folder was;
// a real file system keeps more, but promises no more.
type journal struct {
	mu    gosync.Mutex
	next  uint64            // of the next change
	files map[uint64]*dirty // by inode
	names []naming          // in their order
}

// dirty is a file with changes that were not synced.
type dirty struct {
	f       *os.File // open for itself, whatever becomes of the name
	changes []change
}

// change is how a file was before a write or a change of its size.
type change struct {
	at       uint64
	size     int64
	off, end int64  // what was written; end 0: only the size changed
	old      []byte // what was there from off on, as far as there was anything
}

// naming is a change of names in a folder.
type naming struct {
	at     uint64
	folder uint64
	kept   string // to be removed once it is durable; empty: nothing
	undo   func() error
}

func newJournal() *journal { return &journal{files: map[uint64]*dirty{}} }

// mark is a moment: what was changed before has a smaller number.
func (j *journal) mark() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next
}

func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := len(j.names)
	for _, d := range j.files {
		n += len(d.changes)
	}
	return n
}

// written writes, after noting what was there. All writes of a disk pass here
// one by one.
func (j *journal) written(ino uint64, f *os.File, data []byte, off int64) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.before(ino, f, off, off+int64(len(data))); err != nil {
		return 0, err
	}
	return unix.Pwrite(int(f.Fd()), data, off)
}

// resized sets the size, after noting what is cut off.
func (j *journal) resized(ino uint64, f *os.File, size int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if err := j.before(ino, f, size, max(size, st.Size())); err != nil {
		return err
	}
	return f.Truncate(size)
}

// allocated does a fallocate, which may change the size, or what is read.
func (j *journal) allocated(ino uint64, f *os.File, off, size int64, mode uint32) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.before(ino, f, off, off+size); err != nil {
		return err
	}
	return unix.Fallocate(int(f.Fd()), mode, off, size)
}

// before notes how a file is before its bytes from off to end change. The lock is held.
func (j *journal) before(ino uint64, f *os.File, off, end int64) error {
	d := j.files[ino]
	if d == nil {
		own, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		d = &dirty{f: own}
		j.files[ino] = d
	}
	st, err := d.f.Stat()
	if err != nil {
		return err
	}
	c := change{at: j.next, size: st.Size(), off: off, end: end}
	if there := min(end, c.size) - off; there > 0 {
		c.old = make([]byte, there)
		if _, err := d.f.ReadAt(c.old, off); err != nil {
			return err
		}
	}
	d.changes = append(d.changes, c)
	j.next++
	return nil
}

// named notes a change of names that was made.
func (j *journal) named(folder uint64, undo func() error) { j.removed(folder, "", undo) }

// removed notes one that has kept a file, which goes when it is durable.
func (j *journal) removed(folder uint64, kept string, undo func() error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.names = append(j.names, naming{j.next, folder, kept, undo})
	j.next++
}

// synced makes the changes of a file durable that were made before a mark.
func (j *journal) synced(ino, before uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.files[ino]
	if d == nil {
		return
	}
	n := 0
	for n < len(d.changes) && d.changes[n].at < before {
		n++
	}
	if d.changes = d.changes[n:]; len(d.changes) == 0 {
		_ = d.f.Close() // a file on a tmpfs
		delete(j.files, ino)
	}
}

// syncedNames does so for a folder.
func (j *journal) syncedNames(folder, before uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var rest []naming
	for _, n := range j.names {
		switch {
		case n.folder != folder || n.at >= before:
			rest = append(rest, n)
		case n.kept != "":
			_ = os.Remove(n.kept) // there may have been nothing to keep
		}
	}
	j.names = rest
}

// forget closes what is open.
func (j *journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for ino, d := range j.files {
		_ = d.f.Close() // a file on a tmpfs
		delete(j.files, ino)
	}
	j.names = nil
}

// cut undoes all, but for what r decides had reached the disk.
func (j *journal) cut(r *rand.Rand) (unsynced, kept int, err error) {
	unsynced = j.count()
	j.mu.Lock()
	for _, d := range j.files {
		n, ferr := d.cut(r)
		kept, err = kept+n, errors.Join(err, ferr)
	}
	stay := 0
	if r != nil {
		stay = r.IntN(len(j.names) + 1)
	}
	for i := len(j.names) - 1; i >= stay; i-- {
		err = errors.Join(err, j.names[i].undo())
	}
	j.mu.Unlock()
	j.forget()
	return unsynced, kept + stay, err
}

// cut undoes the changes of one file, newest first, and brings sectors back that
// had reached the disk.
func (d *dirty) cut(r *rand.Rand) (kept int, err error) {
	reached, size, err := d.reached(r)
	if err != nil {
		return 0, err
	}
	for i := len(d.changes) - 1; i >= 0; i-- {
		c := d.changes[i]
		if err := d.f.Truncate(c.size); err != nil {
			return 0, err
		}
		if _, err := d.f.WriteAt(c.old, c.off); err != nil {
			return 0, err
		}
	}
	st, err := d.f.Stat()
	if err != nil {
		return 0, err
	}
	if size < 0 { // the size did not reach the disk
		size = st.Size()
	} else if err := d.f.Truncate(size); err != nil {
		return 0, err
	}
	for at, b := range reached {
		if at >= size {
			continue
		}
		if _, err := d.f.WriteAt(b[:min(int64(len(b)), size-at)], at); err != nil {
			return kept, err
		}
		kept++
	}
	return kept, nil
}

// reached draws what had reached the disk: sectors as they are now, and the size;
// -1: it had not.
func (d *dirty) reached(r *rand.Rand) (map[int64][]byte, int64, error) {
	list := map[int64][]byte{}
	if r == nil {
		return list, -1, nil
	}
	st, err := d.f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size := st.Size()
	for _, c := range d.changes {
		for at := c.off / sector * sector; at < min(c.end, size); at += sector {
			if _, drawn := list[at]; drawn {
				continue
			}
			list[at] = nil // drawn once
			if r.IntN(2) == 0 {
				continue
			}
			b := make([]byte, min(sector, size-at))
			if _, err := d.f.ReadAt(b, at); err != nil {
				return nil, 0, err
			}
			list[at] = b
		}
	}
	for at, b := range list {
		if b == nil {
			delete(list, at)
		}
	}
	if r.IntN(2) == 0 {
		size = -1
	}
	return list, size, nil
}

// kepts numbers the files that are kept.
var kepts atomic.Uint64

// keep is a name for a file to be kept.
func (d *Disk) keep() string { return filepath.Join(d.trash, fmt.Sprint(kepts.Add(1))) }
