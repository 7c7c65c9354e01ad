//go:build linux

package disk

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	gosync "sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Disk is one file system, mounted for the length of a test. Its methods may be
// called from any goroutine, PowerOff and PowerOn from one at a time.
type Disk struct {
	// Dir is where it is mounted.
	Dir string
	// Below is the folder with its files, which is never slow and never fails:
	// for what looks at or damages files that nobody has open.
	Below string

	trash   string // on the same tmpfs, beside Below
	filler  string
	server  *fuse.Server
	journal *journal

	mu      gosync.Mutex
	now     Behaviour     // guarded by mu, as is all that follows
	off     bool          // there is no power
	changed chan struct{} // closed when now changes
	met     Met
	open    map[any]func() // what closes what the kernel has open
}

// Mount makes a disk of so many bytes and mounts it at dir, which must be there.
// It skips the test where this machine does not let it.
func Mount(tb testing.TB, dir string, bytes int64) *Disk {
	tb.Helper()
	base := tb.TempDir()
	if err := unix.Mount("tmpfs", base, "tmpfs", 0, fmt.Sprintf("mode=0700,size=%d", bytes)); err != nil {
		tb.Skipf("needs the right to mount (root, or CAP_SYS_ADMIN): %v", err)
	}
	d := &Disk{
		Dir: dir, Below: filepath.Join(base, "files"), trash: filepath.Join(base, "trash"),
		filler: filepath.Join(base, "filler"), journal: newJournal(), changed: make(chan struct{}), open: map[any]func(){},
	}
	tb.Cleanup(func() {
		d.journal.forget()
		if err := unix.Unmount(base, 0); err != nil {
			tb.Errorf("unmounting the tmpfs below %s: %v", dir, err)
		}
	})
	for _, f := range []string{d.Below, d.trash} {
		if err := os.Mkdir(f, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	makeDevice()
	if err := d.mount(); err != nil {
		tb.Skipf("needs /dev/fuse and the right to mount: %v", err)
	}
	tb.Cleanup(func() {
		d.power(false)
		if err := d.unmount(); err != nil {
			tb.Errorf("unmounting %s: %v", dir, err)
		}
	})
	return d
}

// makeDevice makes /dev/fuse where a container was given none.
func makeDevice() {
	if _, err := os.Stat("/dev/fuse"); os.IsNotExist(err) {
		_ = unix.Mknod("/dev/fuse", unix.S_IFCHR|0o600, int(unix.Mkdev(10, 229))) // mount tells
	}
}

func (d *Disk) mount() error {
	var st syscall.Stat_t
	if err := syscall.Stat(d.Below, &st); err != nil {
		return err
	}
	root := &fs.LoopbackRoot{Path: d.Below, Dev: uint64(st.Dev)}
	top := &node{LoopbackNode: fs.LoopbackNode{RootData: root}, disk: d}
	root.RootNode = top
	server, err := fs.Mount(d.Dir, top, &fs.Options{
		EntryTimeout: new(time.Duration), AttrTimeout: new(time.Duration), // what is Below may be changed from outside
		Logger: log.New(io.Discard, "", 0),
		MountOptions: fuse.MountOptions{
			FsName: "test-disk", Name: "testdisk", DirectMountStrict: true, DisableXAttrs: true,
			Logger: log.New(io.Discard, "", 0),
		},
	})
	d.server = server
	return err
}

// unmount waits for who still has files open, which ends with their processes.
func (d *Disk) unmount() (err error) {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if err = unix.Unmount(d.Dir, 0); err == nil {
			d.server.Wait()
			d.closeAll()
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w; it is taken away from who uses it", errors.Join(err, unix.Unmount(d.Dir, unix.MNT_DETACH|unix.MNT_FORCE)))
		}
	}
}

// opened notes what closes a handle, which happens once: when the kernel says
// so, or after the unmount, since its last words are not waited for.
func (d *Disk) opened(handle any, end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[handle] = end
}

func (d *Disk) closed(handle any) {
	d.mu.Lock()
	end := d.open[handle]
	delete(d.open, handle)
	d.mu.Unlock()
	if end != nil {
		end()
	}
}

func (d *Disk) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, end := range d.open {
		end()
	}
	clear(d.open)
}

// Be has the disk behave like b from now on, also towards calls that hang.
func (d *Disk) Be(b Behaviour) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(b, d.off)
}

// set changes what the disk is like. The lock is held.
func (d *Disk) set(b Behaviour, off bool) {
	d.now, d.off = b, off
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *Disk) power(off bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(Behaviour{}, off)
}

// Off tells whether there is no power.
func (d *Disk) Off() bool {
	_, off, _ := d.behaviour()
	return off
}

func (d *Disk) behaviour() (b Behaviour, off bool, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now, d.off, d.changed
}

// Met is what callers have met since the mount.
func (d *Disk) Met() Met {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.met
}

func (d *Disk) note(f func(*Met)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.met)
}

// Fill takes all space that is free but for so many bytes, until Free.
func (d *Disk) Fill(but int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(d.Below, &st); err != nil {
		return err
	}
	f, err := os.Create(d.filler)
	if err != nil {
		return err
	}
	want, at := int64(st.Bavail)*st.Bsize-but, int64(0)
	for step := want; step >= st.Bsize; step /= 2 { // its users may be taking space too
		for at+step <= want && err == nil {
			if err = unix.Fallocate(int(f.Fd()), 0, at, step); err == nil {
				at += step
			}
		}
		if errors.Is(err, unix.ENOSPC) {
			err = nil
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Free gives back what Fill took.
func (d *Disk) Free() error {
	if err := os.Remove(d.filler); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// Unsynced is how many changes a power cut would undo now.
func (d *Disk) Unsynced() int { return d.journal.count() }

// PowerOff is the moment of a power cut: from now on nothing reaches the disk,
// and whatever would change it fails, until PowerOn. Its users are to be killed
// in between.
func (d *Disk) PowerOff() { d.power(true) }

// PowerOn undoes what was not synced at PowerOff, and brings the disk back, sound.
// Of each file r decides which sectors, and whether the size, had reached the
// disk all the same, and after which change of names there was none; nil: none
// had. It returns how many changes were not synced, and how many of these stayed.
func (d *Disk) PowerOn(r *rand.Rand) (unsynced, kept int, err error) {
	if err := d.unmount(); err != nil { // so that nothing is left in a cache either
		return 0, 0, err
	}
	unsynced, kept, err = d.journal.cut(r)
	if err != nil {
		return unsynced, kept, fmt.Errorf("undoing what was not synced: %w", err)
	}
	d.power(false)
	return unsynced, kept, d.mount()
}

// Wipe removes all files, which nobody may have open.
func (d *Disk) Wipe() error {
	all, err := os.ReadDir(d.Below)
	for _, e := range all {
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.Below, e.Name())))
	}
	return err
}

// Files are the paths of all plain files on it, relative to Below, sorted.
func (d *Disk) Files() ([]string, error) {
	var list []string
	err := filepath.WalkDir(d.Below, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, rerr := filepath.Rel(d.Below, path)
			list, err = append(list, rel), rerr
		}
		return err
	})
	slices.Sort(list)
	return list, err
}
