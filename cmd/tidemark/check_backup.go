package main

import (
	"fmt"
	"os"
	"time"

	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/offset"
)

// checkBackupCmd reads a backup whole.
type checkBackupCmd struct {
	File string `arg:"" help:"What \"cluster backup\" has written, or a copy of it." placeholder:"FILE"`
}

// backupFacts are what a backup says of itself and holds.
type backupFacts struct {
	File string `json:"file"`
	// ID is the SHA-256 of the file without its last 32 bytes, which repeat it.
	ID    string `json:"id"`
	Bytes int64  `json:"bytes,string"`
	// WrittenAt is the clock of the node that wrote it, Node its id, Build the
	// version of its program.
	WrittenAt string `json:"writtenAt"`
	Node      string `json:"node"`
	Build     string `json:"build"`

	ClusterID string `json:"clusterId"`
	Level     uint8  `json:"formatLevel"`
	Index     uint64 `json:"index,string"`
	Digest    string `json:"digest"`
	Groups    uint64 `json:"groups,string"`
	Offsets   uint64 `json:"offsets,string"`
	// Pending counts the offsets that an operator moved, and no consumer had
	// followed yet.
	Pending uint64 `json:"pending,string"`
	Claims  int    `json:"claims"`
}

// checkedBackup is the result of a check: damage is an error of its own.
type checkedBackup struct{ *backupFacts }

func (r checkedBackup) table(t *table) {
	t.line("%s is whole: %d bytes, id %s", r.File, r.Bytes, r.ID)
	r.facts(t)
}

// facts says what the backup is.
func (r *backupFacts) facts(t *table) {
	t.line("written at %s by %s, version %s", r.WrittenAt, shown(r.Node), shown(r.Build))
	t.line("of cluster %s, as of index %d, format level %d, digest %s", r.ClusterID, r.Index, r.Level, r.Digest)
	t.line("%s of %s, %d of them pending; %s", plural(r.Offsets, "offset", "offsets"), plural(r.Groups, "group", "groups"), r.Pending, plural(r.Claims, "claim", "claims"))
}

// Run reads the file. One that is not as it was written is refused with exit code 3.
func (c *checkBackupCmd) Run(s *session) error {
	b, err := readBackup(c.File)
	if err != nil {
		return err
	}
	return s.print(checkedBackup{factsOf(c.File, b)})
}

// openBackup opens a file for package backup.
func openBackup(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the backup: %w", err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = offset.Errorf(offset.ErrInvalid, "%q is not a file; name what \"tidemark cluster backup\" has written", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// readBackup reads a backup whole, or not at all.
func readBackup(path string) (*backup.Backup, error) {
	f, size, err := openBackup(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := backup.Read(f, size)
	if err != nil {
		return nil, fmt.Errorf("%q is not to be relied on; take another copy, or an older backup: %w", path, err)
	}
	return b, nil
}

func factsOf(path string, b *backup.Backup) *backupFacts {
	root := b.Root
	r := &backupFacts{
		File: path, ID: b.ID.String(), Bytes: b.Bytes,
		WrittenAt: time.UnixMilli(b.Time).UTC().Format(time.RFC3339), Node: b.Node, Build: b.Build,
		ClusterID: root.Cluster().String(), Level: root.Level(), Index: root.Index(), Digest: root.Digest().String(),
		Groups: root.Groups(), Offsets: root.Queues(), Claims: len(root.Claims()),
	}
	root.Walk(&offset.List{Pending: true}, func(offset.KeyedState) bool { r.Pending++; return true })
	return r
}
