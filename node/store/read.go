package store

import (
	"errors"

	"github.com/hashicorp/raft"
)

// Vote is the term and vote of a member as they lie on its disk.
type Vote struct {
	// CurrentTerm is the newest term the member has seen.
	CurrentTerm uint64
	// Term and Candidate are its last vote; Candidate is empty if it never voted.
	Term      uint64
	Candidate string
}

// ReadLog calls fn for each entry of a stopped member's log, in order. It writes
// nothing. Errors: *LockedError while the member runs; fn's own, which ends it.
func ReadLog(dir string, fn func(*raft.Log) error) error { return errors.ErrUnsupported }

// ReadVote returns a stopped member's term and vote. It writes nothing.
func ReadVote(dir string) (Vote, error) { return Vote{}, errors.ErrUnsupported }

// ReadSnapshots lists a stopped member's snapshots, newest first. It writes
// nothing.
func ReadSnapshots(dir string) ([]SnapshotInfo, error) { return nil, errors.ErrUnsupported }

// SnapshotInfo is one snapshot on a disk.
type SnapshotInfo struct {
	// Path is its folder.
	Path string
	// Meta is what raft knows of it; only Index and Term, from the folder's
	// name, where Err is set.
	Meta raft.SnapshotMeta
	// Err says what is wrong with it, nil if nothing is known to be. The data's
	// checksum is not read here.
	Err error
}
