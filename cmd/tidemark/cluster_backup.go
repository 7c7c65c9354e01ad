package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/schollz/progressbar/v3"

	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// backupCmd writes a backup.
type backupCmd struct {
	File      string `arg:"" help:"File to write, 0600; it gets its name once it is whole." placeholder:"FILE"`
	Node      string `help:"API address of the node that makes it; the first that answers if not given. Any will do." placeholder:"HOST:PORT"`
	Overwrite bool   `help:"Replace the file if it is there."`
	readLevel
}

// backupResult is what was written.
type backupResult struct {
	File string `json:"file"`
	// ID is the SHA-256 of the file without its last 32 bytes, which repeat it.
	ID        string `json:"id"`
	Bytes     int64  `json:"bytes,string"`
	ClusterID string `json:"clusterId"`
	// Index and Digest are those of the state in the backup.
	Index   uint64 `json:"index,string"`
	Digest  string `json:"digest"`
	Offsets uint64 `json:"offsets,string"`
}

func (r *backupResult) table(t *table) {
	t.line("%s: %s of cluster %s, as of index %d, digest %s", r.File, plural(r.Offsets, "offset", "offsets"), r.ClusterID, r.Index, r.Digest)
	t.line("%d bytes, id %s", r.Bytes, r.ID)
}

// Run writes the backup beside the file, and gives it its name once its sum was
// found right.
func (c *backupCmd) Run(s *session) error {
	if err := c.free(); err != nil {
		return err
	}
	r := &backupResult{File: c.File}
	err := offsetfile.WriteFile(c.File, func(w io.Writer) error { return c.write(s, w, r) })
	switch {
	case errors.Is(err, offsetfile.ErrUnsynced):
		return err
	case err != nil:
		return fmt.Errorf("no backup was written: %w", err)
	}
	return s.print(r)
}

// free refuses to write over a file: it may be the last backup that is right.
func (c *backupCmd) free() error {
	_, err := os.Lstat(c.File)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && c.Overwrite:
		return nil
	case err != nil:
		return fmt.Errorf("looking for the file: %w", err)
	}
	return exitf(exitRefused, "%q is there already; name another file, or add --overwrite to replace it", c.File)
}

func (c *backupCmd) write(s *session, w io.Writer, r *backupResult) error {
	bar := s.byteCounter("backing up")
	defer func() { _ = bar.Finish() }() // a bar that does not draw is no reason to stop
	sum := new(backup.Sum)
	all := io.MultiWriter(w, sum)
	err := s.unlessSilent(func(ctx context.Context, heard func()) error {
		return s.Backup(ctx, c.Node, c.at(), func(p offset.BackupPart) error {
			heard()
			_ = bar.Add(len(p.Data))
			r.ClusterID, r.Index, r.Digest, r.Offsets = p.Meta.Cluster.String(), p.Meta.Index, p.Digest.String(), p.Queues
			r.Bytes += int64(len(p.Data))
			_, err := all.Write(p.Data)
			return err
		})
	})
	if err != nil {
		return err
	}
	id, err := sum.ID()
	r.ID = id.String()
	return err
}

// byteCounter shows how many bytes have come, where nobody knows how many there are.
func (s *session) byteCounter(what string) *progressbar.ProgressBar {
	b := s.counter(what)
	progressbar.OptionShowBytes(true)(b)
	return b
}
