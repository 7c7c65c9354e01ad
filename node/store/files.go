package store

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/offset"
)

// The names in a store's folder.
const (
	lockName      = "LOCK"
	markerName    = "store.json"
	logName       = "log.db"
	walName       = "wal"
	snapshotsName = "snapshots"
	tmpSuffix     = ".tmp"
	lostAndFound  = "lost+found" // what mkfs leaves in a fresh file system

	fileMode   = 0o600
	folderMode = 0o700
)

// rejoin is the way out of a damaged folder. Nothing less is safe: a member
// that starts emptier than it was has forgotten votes and acknowledged entries.
const rejoin = "remove this member from the cluster, wipe the folder, and add the member anew"

// damaged returns an error that names a file of the store, what is wrong with
// it, and the way out.
func damaged(path, format string, args ...any) error {
	return offset.Errorf(offset.ErrDamaged, "%s: %s; %s", path, fmt.Sprintf(format, args...), rejoin)
}

// SyncFolder makes the names in a folder durable: what was renamed or made there.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing folder: %w", err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing folder %s: %w", dir, err)
	}
	return nil
}

// writeFile makes a new file durable; its name is durable once the folder is
// synced.
func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return fmt.Errorf("creating file: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing file: %w", err)
	}
	return nil
}

// ReplaceFile puts a file (0600) in the place of what was there, whole or not at
// all: written under another name, synced, renamed, folder synced.
func ReplaceFile(path string, data []byte) error {
	beside := path + tmpSuffix
	if err := writeFile(beside, data); err != nil {
		_ = os.Remove(beside)
		return err
	}
	if err := os.Rename(beside, path); err != nil {
		_ = os.Remove(beside)
		return fmt.Errorf("replacing file: %w", err)
	}
	return SyncFolder(filepath.Dir(path))
}
