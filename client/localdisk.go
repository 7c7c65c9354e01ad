package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// disk is what a LocalFileStore does to its folder, one system call or two a
// method, so that tests can end the process between any of them.
type disk interface {
	// read gives a whole file of at most n bytes; more is an error.
	read(path string, n int64) ([]byte, error)
	// modified is when a file was written last.
	modified(path string) (time.Time, error)
	// list gives the names in a folder.
	list(dir string) ([]string, error)
	mkdir(path string) error
	// create makes a file of a new name, open for writing, mode 0600.
	create(dir, pattern string) (diskFile, error)
	rename(from, to string) error
	remove(path string) error
	// syncDir makes the names in a folder durable.
	syncDir(path string) error
}

// diskFile is a file that is being written.
type diskFile interface {
	Name() string
	Write(b []byte) (int, error)
	Sync() error
	Close() error
}

// realDisk is the disk of the machine.
type realDisk struct{}

func (realDisk) read(path string, n int64) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no file", path)
	case st.Size() > n:
		return nil, fmt.Errorf("%q has %d bytes; at most %d are read", path, st.Size(), n)
	}
	return os.ReadFile(path)
}

func (realDisk) modified(path string) (time.Time, error) {
	st, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return st.ModTime(), nil
}

func (realDisk) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (realDisk) mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (realDisk) create(dir, pattern string) (diskFile, error) {
	f, err := os.CreateTemp(dir, pattern) // its mode is 0600
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) remove(path string) error { return os.Remove(path) }

func (realDisk) syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // where a folder cannot be synced
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// makeDirs makes a folder and what is missing above it, each durable in the
// folder that holds it.
func makeDirs(d disk, path string) error {
	err := d.mkdir(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	above := filepath.Dir(path)
	if errors.Is(err, fs.ErrNotExist) && above != path {
		if err = makeDirs(d, above); err == nil {
			err = d.mkdir(path)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // another process was first
		return fmt.Errorf("making the folder: %w", err)
	}
	if err := d.syncDir(above); err != nil {
		return fmt.Errorf("syncing the folder %q: %w", above, err)
	}
	return nil
}

// writeNew writes data to a new file in dir and syncs it; the name is returned
// also with an error, if the file was made.
func writeNew(d disk, dir, pattern string, data []byte) (name string, err error) {
	f, err := d.create(dir, pattern)
	if err != nil {
		return "", fmt.Errorf("creating a file in %q: %w", dir, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		err = fmt.Errorf("writing %q: %w", f.Name(), err)
	}
	return f.Name(), err
}
