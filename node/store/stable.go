package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// The keys under which raft stores its term and its vote, and ours.
const (
	keyCurrentTerm   = "CurrentTerm"
	keyLastVoteTerm  = "LastVoteTerm"
	keyLastVoteCand  = "LastVoteCand"
	keyVote          = "TidemarkVote"
	keyStore         = "TidemarkStore"
	keySnapshotIndex = "TidemarkSnapshotIndex"
	// keySummedFrom holds the index from which on every entry has a sum.
	keySummedFrom = "TidemarkSummedFrom"
)

// The first byte of a vote record; 8 bytes of term, big-endian, the candidate's
// address and the sum follow.
const (
	voteVersion = 2
	// voteUnsummed is the version of earlier builds, without a sum.
	voteUnsummed = 1
)

// stable implements raft.StableStore over the log file. Raft stores a vote by
// two calls, the term's and the candidate's, and acts only after the second; a
// crash in between would leave the new term with the old candidate, which is
// then granted a vote without a look at its log. So the term is held back until
// the candidate comes, and both go into one record.
type stable struct {
	db    *raftboltdb.BoltStore
	guard *guard
	split bool          // Unsafe.SplitVote
	hold  time.Duration // how long a failed term is held back

	closed <-chan struct{}

	mu       sync.Mutex
	voteTerm uint64 // held back
	held     bool
}

// Set implements raft.StableStore.
func (v *stable) Set(key, val []byte) error {
	if string(key) != keyLastVoteCand || v.split {
		return v.put(OpSet, string(key), val)
	}
	v.mu.Lock()
	term, held := v.voteTerm, v.held
	v.held = false
	v.mu.Unlock()
	if !held {
		return fmt.Errorf("could not %s: a candidate without its term", OpVote)
	}
	if planted.Is(planted.VoteForgotten) {
		return nil
	}
	return v.put(OpVote, keyVote, encodeVote(term, val))
}

// SetUint64 implements raft.StableStore.
func (v *stable) SetUint64(key []byte, val uint64) error {
	encoded := encodeNumber(string(key), val)
	switch {
	case string(key) == keyCurrentTerm:
		return v.setTerm(val, encoded)
	case string(key) == keyLastVoteTerm && !v.split:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.voteTerm, v.held = val, true
		return v.guard.err()
	default:
		return v.put(OpSet, string(key), encoded)
	}
}

// setTerm stores the current term. Raft panics on an error, on its main
// goroutine, which would forestall the node's orderly end; so the failure, which
// the node knows of by then, is held back until the store is closed or
// the node has had its time. Nil after Close is no promise anybody can build on:
// nothing is stored any more, so no vote and no entry follows.
//
// Term 1 is stored by bootstrap alone, by its caller's goroutine, and fails
// plainly.
func (v *stable) setTerm(term uint64, encoded []byte) error {
	err := v.put(OpTerm, keyCurrentTerm, encoded)
	if err == nil || term <= 1 || v.guard.off {
		return err
	}
	t := time.NewTimer(v.hold)
	defer t.Stop()
	select {
	case <-v.closed:
		return nil
	case <-t.C:
		return err
	}
}

func (v *stable) put(op Op, key string, val []byte) error {
	return v.guard.write(op, len(val), func() error { return v.db.Set([]byte(key), val) })
}

// Get implements raft.StableStore. A key that is not there is an error with the
// text "not found", as raft wants it.
func (v *stable) Get(key []byte) ([]byte, error) {
	if string(key) != keyLastVoteCand || v.split {
		return v.get(string(key))
	}
	_, candidate, err := v.vote()
	return candidate, err
}

// GetUint64 implements raft.StableStore.
func (v *stable) GetUint64(key []byte) (uint64, error) {
	if string(key) == keyLastVoteTerm && !v.split {
		term, _, err := v.vote()
		return term, err
	}
	return v.number(string(key))
}

func (v *stable) number(key string) (uint64, error) {
	val, err := v.get(key)
	if err != nil {
		return 0, err
	}
	return decodeNumber(key, val)
}

func (v *stable) vote() (term uint64, candidate []byte, err error) {
	record, err := v.get(keyVote)
	if err != nil {
		return 0, nil, err
	}
	return decodeVote(record)
}

func (v *stable) get(key string) (val []byte, err error) {
	missing := false
	rerr := v.guard.read(func() error {
		val, err = v.db.Get([]byte(key))
		missing = errors.Is(err, raftboltdb.ErrKeyNotFound)
		if missing {
			return nil
		}
		return err
	})
	if rerr != nil {
		return nil, rerr
	}
	if missing {
		return nil, raftboltdb.ErrKeyNotFound
	}
	return val, nil
}

func encodeNumber(key string, val uint64) []byte {
	return sumValue(key, binary.BigEndian.AppendUint64(nil, val))
}

// decodeNumber returns a number of log.db, which has a sum unless an earlier
// build has stored it. Its error wraps offset.ErrDamaged.
func decodeNumber(key string, val []byte) (uint64, error) {
	if len(val) != 8 {
		var err error
		if val, err = checkValue(key, val); err != nil {
			return 0, err
		}
	}
	if len(val) != 8 {
		return 0, offset.Errorf(offset.ErrDamaged, "value of %s is %d bytes long, not 8", key, len(val))
	}
	return binary.BigEndian.Uint64(val), nil
}

func encodeVote(term uint64, candidate []byte) []byte {
	record := make([]byte, 0, 9+len(candidate)+sumBytes)
	record = append(record, voteVersion)
	record = binary.BigEndian.AppendUint64(record, term)
	return sumValue(keyVote, append(record, candidate...))
}

// decodeVote returns what encodeVote has been given. Its error wraps
// offset.ErrDamaged.
func decodeVote(record []byte) (term uint64, candidate []byte, err error) {
	if len(record) > 0 && record[0] != voteUnsummed {
		if record, err = checkValue(keyVote, record); err != nil {
			return 0, nil, err
		}
	}
	if len(record) < 9 || record[0] != voteVersion && record[0] != voteUnsummed {
		return 0, nil, offset.Errorf(offset.ErrDamaged, "vote record of %d bytes is not readable", len(record))
	}
	return binary.BigEndian.Uint64(record[1:]), record[9:], nil
}
