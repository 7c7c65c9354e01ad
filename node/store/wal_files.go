package store

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/raft-wal/types"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// walFiles are the segments' files, with this store's modes, and with the guard
// around what the library does in a goroutine of its own, whose errors it only
// logs. It implements types.VFS.
type walFiles struct {
	guard *guard

	mu   sync.Mutex
	last string // the newest file that has been synced, with its name
}

// synced names the newest segment of which something is on the disk.
func (v *walFiles) synced() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last
}

// ListDir implements types.VFS.
func (v *walFiles) ListDir(dir string) ([]string, error) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range found {
		if !f.IsDir() {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// Create implements types.VFS. The room is there from the beginning, so that a
// full disk shows between two appends. A file of that name has been made by a
// rotation that was cut short, and holds nothing.
func (v *walFiles) Create(dir, name string, size uint64) (types.WritableFile, error) {
	var f *os.File
	err := v.guard.apart(OpSegment, func() (err error) {
		f, err = os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_RDWR, fileMode)
		if err != nil {
			return err
		}
		if err = reserve(f, int64(size)); err != nil {
			_ = f.Close()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &walFile{File: f, files: v, dir: dir, name: name}, nil
}

// Delete implements types.VFS.
func (v *walFiles) Delete(dir, name string) error {
	return v.guard.apart(OpSegment, func() error {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
		return SyncFolder(dir)
	})
}

// OpenReader implements types.VFS.
func (v *walFiles) OpenReader(dir, name string) (types.ReadableFile, error) {
	return os.Open(filepath.Join(dir, name))
}

// OpenWriter implements types.VFS. The folder is synced with the first write, as
// after Create: before the last stop it may not have come to that.
func (v *walFiles) OpenWriter(dir, name string) (types.WritableFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, fileMode)
	if err != nil {
		return nil, err
	}
	return &walFile{File: f, files: v, dir: dir, name: name}, nil
}

// walFile is a segment that is written to, by one goroutine at a time.
type walFile struct {
	*os.File
	files     *walFiles
	dir, name string
	named     bool // the folder has been synced since it was opened
}

// Sync implements types.WritableFile.
func (f *walFile) Sync() error {
	if !planted.Is(planted.NoSync) {
		if err := syncData(f.File); err != nil {
			return err
		}
		if !f.named {
			if err := SyncFolder(f.dir); err != nil {
				return err
			}
		}
	}
	if !f.named {
		f.named = true
		f.files.mu.Lock()
		f.files.last = f.name
		f.files.mu.Unlock()
	}
	return nil
}
