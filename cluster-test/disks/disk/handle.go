//go:build linux

package disk

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// newHandle takes f over.
func newHandle(d *Disk, f *os.File, ino uint64) *handle {
	h := &handle{f: f, disk: d, ino: ino}
	d.opened(h, func() { _ = f.Close() }) // a file on a tmpfs
	return h
}

// handle is an open file.
type handle struct {
	f    *os.File
	disk *Disk
	ino  uint64
}

var _ interface {
	fs.FileReader
	fs.FileWriter
	fs.FileFsyncer
	fs.FileAllocater
	fs.FileGetattrer
	fs.FileReleaser
} = (*handle)(nil)

// Read reads past the journal: what was written is there, synced or not.
func (h *handle) Read(_ context.Context, buf []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if errno := h.disk.admitOf(read, filepath.Base(h.f.Name())); errno != 0 {
		return nil, errno
	}
	n, err := unix.Pread(int(h.f.Fd()), buf, off)
	if err != nil {
		return nil, fs.ToErrno(err)
	}
	return fuse.ReadResultData(buf[:n]), 0
}

// Write writes, and keeps what was there before.
func (h *handle) Write(_ context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if errno := h.disk.admit(write); errno != 0 {
		return 0, errno
	}
	n, err := h.disk.journal.written(h.ino, h.f, data, off)
	switch {
	case err != nil:
		return 0, h.disk.failed(err)
	case n < len(data): // the rest found no space; the kernel takes no part of a write
		return 0, h.disk.failed(syscall.ENOSPC)
	}
	return uint32(n), 0
}

// Fsync makes what was written before it survive a power cut.
func (h *handle) Fsync(context.Context, uint32) syscall.Errno {
	begun := h.disk.journal.mark()
	if errno := h.disk.admit(sync); errno != 0 {
		return errno
	}
	h.disk.journal.synced(h.ino, begun)
	return 0
}

// Allocate takes space; a power cut may take it back, which is no loss.
func (h *handle) Allocate(_ context.Context, off, size uint64, mode uint32) syscall.Errno {
	if errno := h.disk.admit(write); errno != 0 {
		return errno
	}
	if err := h.disk.journal.allocated(h.ino, h.f, int64(off), int64(size), mode); err != nil {
		return h.disk.failed(err)
	}
	return 0
}

// Getattr works for files without a name, too.
func (h *handle) Getattr(_ context.Context, out *fuse.AttrOut) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(h.f.Fd()), &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&st)
	return 0
}

// Release closes it.
func (h *handle) Release(context.Context) syscall.Errno {
	h.disk.closed(h)
	return 0
}

// newFolder takes a stream of names over.
func newFolder(n *node, stream fs.FileHandle) *folder {
	f := &folder{stream.(fs.FileReaddirenter), stream, n}
	n.disk.opened(f, func() { stream.(fs.FileReleasedirer).Releasedir(context.Background(), 0) })
	return f
}

// folder is an open folder.
type folder struct {
	fs.FileReaddirenter
	stream fs.FileHandle
	node   *node
}

var _ interface {
	fs.FileFsyncdirer
	fs.FileSeekdirer
	fs.FileReleasedirer
} = (*folder)(nil)

// Fsyncdir makes the names in the folder survive a power cut.
func (f *folder) Fsyncdir(context.Context, uint32) syscall.Errno {
	begun := f.node.disk.journal.mark()
	if errno := f.node.disk.admit(sync); errno != 0 {
		return errno
	}
	f.node.disk.journal.syncedNames(f.node.StableAttr().Ino, begun)
	return 0
}

// Seekdir goes to where a look at the names had come.
func (f *folder) Seekdir(ctx context.Context, off uint64) syscall.Errno {
	return f.stream.(fs.FileSeekdirer).Seekdir(ctx, off)
}

// Releasedir closes it.
func (f *folder) Releasedir(context.Context, uint32) { f.node.disk.closed(f) }
