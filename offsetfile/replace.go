package offsetfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/offset"
)

// ErrUnsynced is the error of a file that was replaced, but whose name may not
// survive a loss of power.
var ErrUnsynced = errors.New("the file is there, whole, but may not survive a loss of power")

// WriteFile replaces the file at path by what write writes, or leaves it as it
// was: written beside, synced, renamed, the folder synced. The mode is 0600
// whatever the umask and the old file's mode. An error after the rename, when the
// new file is there, wraps ErrUnsynced. Where path is a link, the file that it
// leads to is replaced. What is no regular file, such as a device or a folder, is
// refused with an error that wraps offset.ErrInvalid.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if path, err = replaceable(path); err != nil {
		return err
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+name+".*.tmp")
	if err != nil {
		return fmt.Errorf("creating a file beside %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := fillFile(f, write); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("replacing the file: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsynced, err)
	}
	return nil
}

// replaceable follows links, and refuses what a rename must not take the place
// of: it would put a file where a device was.
func replaceable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", fmt.Errorf("looking for the file to replace: %w", err)
	case !info.Mode().IsRegular():
		return "", offset.Errorf(offset.ErrInvalid, "%q is no regular file, and is not replaced by one; name a file", path)
	}
	return filepath.EvalSymlinks(path)
}

// fillFile writes and syncs f, and closes it in any case.
func fillFile(f *os.File, write func(io.Writer) error) error {
	err := f.Chmod(0o600)
	if err == nil {
		err = write(f)
	}
	if err == nil {
		if err = f.Sync(); err != nil {
			err = fmt.Errorf("syncing the file: %w", err)
		}
	}
	if e := f.Close(); err == nil && e != nil {
		err = fmt.Errorf("closing the file: %w", e)
	}
	return err
}
