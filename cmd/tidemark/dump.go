package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/dump"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// dumpCmd shows what lies on a disk, one JSON object a line whatever -o says.
type dumpCmd struct {
	Log      dumpLogCmd      `cmd:"" help:"Show the log entries of a stopped node, one JSON object a line."`
	Snapshot dumpSnapshotCmd `cmd:"" help:"List the snapshots of a stopped node, or show one."`
	Backup   dumpBackupCmd   `cmd:"" help:"Show what a backup holds, one JSON object a line."`
	Entry    dumpEntryCmd    `cmd:"" help:"Show one log entry, given in hexadecimal digits."`
}

// raftFolder is where a node's data folder holds the store.
const raftFolder = "raft"

// storeDir takes a node's data folder, or the store's own in it.
func storeDir(dir string) string {
	if st, err := os.Stat(filepath.Join(dir, raftFolder)); err == nil && st.IsDir() {
		return filepath.Join(dir, raftFolder)
	}
	return dir
}

// dumpLogCmd shows a log.
type dumpLogCmd struct {
	Dir  string `arg:"" help:"The node's data folder."`
	From uint64 `help:"First index to show." placeholder:"INDEX"`
	To   uint64 `help:"Last index to show; 0 for the end." placeholder:"INDEX"`
}

// Run shows entry after entry. One that does not decode is named, and the rest
// is shown all the same.
func (c *dumpLogCmd) Run(s *session) error {
	broken := 0
	err := store.ReadLog(storeDir(c.Dir), func(l *raft.Log) error {
		switch {
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case l.Index < c.From || c.To > 0 && l.Index > c.To:
			return nil
		}
		f := &dump.Frame{Index: l.Index, Term: l.Term, Type: l.Type.String(), Command: l.Type == raft.LogCommand, Data: l.Data}
		err := dump.Log(s.out, f)
		if codeOf(err) == exitBadInput {
			broken++
			s.note("tidemark: entry %d: %s", l.Index, oneLine(err))
			return nil
		}
		return err
	})
	if err == nil && broken > 0 {
		err = offset.Errorf(offset.ErrDamaged, "%s do not decode", plural(broken, "entry", "entries"))
	}
	return err
}

// dumpSnapshotCmd shows snapshots.
type dumpSnapshotCmd struct {
	Path string `arg:"" help:"The node's data folder, or a snapshot's own."`
}

// snapshotRow is one snapshot on a disk.
type snapshotRow struct {
	Path  string `json:"path"`
	Index uint64 `json:"index,string"`
	Term  uint64 `json:"term,string"`
	Bytes int64  `json:"bytes,string"`
	Fault string `json:"fault,omitempty"`
}

// snapshotsResult lists snapshots.
type snapshotsResult struct {
	Snapshots []snapshotRow `json:"snapshots"`
}

func (r *snapshotsResult) table(t *table) {
	t.row("INDEX", "TERM", "BYTES", "PATH", "")
	for _, x := range r.Snapshots {
		t.row(num(x.Index), num(x.Term), num(x.Bytes), x.Path, x.Fault)
	}
}

// stateFile is the file of a snapshot's folder that holds the state.
const stateFile = "data"

// Run lists the snapshots of a node, or prints the one whose folder is given.
func (c *dumpSnapshotCmd) Run(s *session) error {
	state := filepath.Join(c.Path, stateFile)
	if st, err := os.Stat(state); err == nil && st.Mode().IsRegular() {
		f, err := os.Open(state)
		if err != nil {
			return fmt.Errorf("opening the snapshot: %w", err)
		}
		defer f.Close()
		return dump.Snapshot(s.out, f)
	}
	list, err := store.ReadSnapshots(storeDir(c.Path))
	if err != nil {
		return err
	}
	r := &snapshotsResult{Snapshots: []snapshotRow{}}
	for _, x := range list {
		row := snapshotRow{Path: x.Path, Index: x.Meta.Index, Term: x.Meta.Term, Bytes: x.Meta.Size}
		if x.Err != nil {
			row.Fault = x.Err.Error()
		}
		r.Snapshots = append(r.Snapshots, row)
	}
	return s.print(r)
}

// dumpBackupCmd shows a backup.
type dumpBackupCmd struct {
	File string `arg:"" help:"What \"cluster backup\" has written." placeholder:"FILE"`
}

// Run prints it, once its sum was found right.
func (c *dumpBackupCmd) Run(s *session) error {
	f, size, err := openBackup(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	return dump.Backup(s.out, f, size)
}

// dumpEntryCmd shows an entry.
type dumpEntryCmd struct {
	Hex string `arg:"" help:"The entry in hexadecimal digits; - reads them from standard input."`
}

// mostHex bounds the digits that are read.
const mostHex = 4 * offset.MaxMessage

// Run decodes and prints it.
func (c *dumpEntryCmd) Run(s *session) error {
	text := c.Hex
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(os.Stdin, mostHex))
		if err != nil {
			return fmt.Errorf("reading the entry: %w", err)
		}
		text = string(b)
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return offset.Errorf(offset.ErrInvalid, "the entry is not in hexadecimal digits: %v", err)
	}
	return dump.Entry(s.out, data)
}
