//go:build linux

package disk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// node is a file or folder. What is not here passes through.
type node struct {
	fs.LoopbackNode
	disk *Disk
}

// WrapChild makes what lies in a folder of the disk a node of it too.
func (n *node) WrapChild(_ context.Context, ops fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{LoopbackNode: fs.LoopbackNode{RootData: ops.(*fs.LoopbackNode).RootData}, disk: n.disk}
}

// The calls that are not passed through as they are.
var _ interface {
	fs.NodeOpener
	fs.NodeCreater
	fs.NodeSetattrer
	fs.NodeMkdirer
	fs.NodeRmdirer
	fs.NodeUnlinker
	fs.NodeRenamer
	fs.NodeLinker
	fs.NodeSymlinker
	fs.NodeMknoder
	fs.NodeOpendirHandler
} = (*node)(nil)

func (n *node) below(names ...string) string {
	return filepath.Join(append([]string{n.disk.Below, n.Path(n.Root())}, names...)...)
}

// Open opens a file for the kernel. Open with O_TRUNC comes as a Setattr before.
func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.disk.admit(read); errno != 0 {
		return nil, 0, errno
	}
	f, err := os.OpenFile(n.below(), int(flags)&syscall.O_ACCMODE, 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return newHandle(n.disk, f, n.StableAttr().Ino), 0, 0
}

// OpendirHandle opens a folder; a folder is synced through it.
func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.disk.admit(read); errno != 0 {
		return nil, 0, errno
	}
	h, kept, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return newFolder(n, h), kept, 0
}

// Create makes a file.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.disk.admit(write); errno != 0 {
		return nil, nil, 0, errno
	}
	path := n.below(name)
	f, err := os.OpenFile(path, int(flags)&syscall.O_ACCMODE|os.O_CREATE|os.O_EXCL, os.FileMode(mode))
	if err != nil {
		return nil, nil, 0, n.disk.failed(err)
	}
	n.named(func() error { return os.Remove(path) })
	inode, errno := n.Lookup(ctx, name, out)
	if errno != 0 {
		return nil, nil, 0, fs.ToErrno(errors.Join(errno, f.Close()))
	}
	return inode, newHandle(n.disk, f, inode.StableAttr().Ino), 0, 0
}

// named notes a change of names in this folder, and how to undo it.
func (n *node) named(undo func() error) { n.disk.journal.named(n.StableAttr().Ino, undo) }

// Setattr changes the size, and what else.
func (n *node) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.disk.admit(write); errno != 0 {
		return errno
	}
	if size, ok := in.GetSize(); ok {
		f, err := os.OpenFile(n.below(), os.O_RDWR, 0)
		if err != nil {
			return fs.ToErrno(err)
		}
		err = n.disk.journal.resized(n.StableAttr().Ino, f, int64(size))
		if err := errors.Join(err, f.Close()); err != nil {
			return n.disk.failed(err)
		}
	}
	return n.LoopbackNode.Setattr(ctx, nil, in, out)
}

// Mkdir makes a folder.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.disk.admit(write); errno != 0 {
		return nil, errno
	}
	inode, errno := n.LoopbackNode.Mkdir(ctx, name, mode, out)
	if errno == 0 {
		path := n.below(name)
		n.named(func() error { return os.RemoveAll(path) })
	}
	return inode, errno
}

// Rmdir removes an empty folder.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	if errno := n.disk.admit(write); errno != 0 {
		return errno
	}
	errno := n.LoopbackNode.Rmdir(ctx, name)
	if errno == 0 {
		path := n.below(name)
		n.named(func() error { return os.Mkdir(path, 0o700) })
	}
	return errno
}

// Unlink removes a file, which is kept until that is synced.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	if errno := n.disk.admit(write); errno != 0 {
		return errno
	}
	path := n.below(name)
	kept := n.disk.keep()
	if err := os.Rename(path, kept); err != nil {
		return n.disk.failed(err)
	}
	n.disk.journal.removed(n.StableAttr().Ino, kept, func() error { return os.Rename(kept, path) })
	return 0
}

// Rename renames within one folder or between two; what it replaces is kept.
func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := parent.(*node)
	if !ok || flags != 0 {
		return syscall.EINVAL
	}
	if errno := n.disk.admit(write); errno != 0 {
		return errno
	}
	from, path, kept := n.below(name), to.below(newName), n.disk.keep()
	err := os.Link(path, kept)
	replaces := err == nil
	if err != nil && !os.IsNotExist(err) && !errors.Is(err, unix.EPERM) { // EPERM: a folder
		return n.disk.failed(err)
	}
	if err := os.Rename(from, path); err != nil {
		return n.disk.failed(err)
	}
	n.disk.journal.removed(to.StableAttr().Ino, kept, func() error {
		if err := os.Rename(path, from); err != nil || !replaces {
			return err
		}
		return os.Rename(kept, path)
	})
	return 0
}

// Link, Symlink and Mknod are not there: nothing of a node's needs them.
func (n *node) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// Symlink is refused.
func (n *node) Symlink(context.Context, string, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// Mknod is refused; files come by Create.
func (n *node) Mknod(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// failed counts a full disk and gives the error to answer with.
func (d *Disk) failed(err error) syscall.Errno {
	errno := fs.ToErrno(err)
	if errno == syscall.ENOSPC {
		d.note(func(m *Met) { m.Full++ })
	}
	return errno
}
