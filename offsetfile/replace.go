package offsetfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile replaces the file at path by what write writes, or leaves it as it
// was: written beside, synced, renamed, the folder synced. The mode is 0600
// whatever the umask and the old file's mode. An error after the rename means
// that the new file is there but may not survive a loss of power.
func WriteFile(path string, write func(io.Writer) error) (err error) {
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
	return syncDir(dir)
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

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("opening the folder to sync it: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing the folder: %w", err)
	}
	return nil
}
