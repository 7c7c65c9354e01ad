package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/tidemark-mq/tidemark/offset"
)

// lockWait is how long the log file's own lock is waited for. Whoever holds the
// folder's lock gets it at once.
const lockWait = 200 * time.Millisecond

// The buckets of the log file, as raft-boltdb names them.
var (
	bucketLogs = []byte("logs")
	bucketConf = []byte("conf")
)

// contents is what a log file holds.
type contents struct {
	// store is the id of the store the file was made for.
	store string
	// entries are those of the log.
	entries *ledger
	// snapshot is the index of the newest snapshot that was put in place.
	snapshot uint64
	// summed is the index from which on every entry has a sum; 0 in what an
	// earlier build made.
	summed uint64
	vote   storedVote
	// segments is what a look at them has found; nil for LogBoltDB.
	segments *walScan
	conf     map[string][]byte
}

// checkLog walks through a store's log without writing to it: log.db, and the
// segments, if the entries are there.
func checkLog(dir string, log LogStore) (*contents, error) {
	c, err := checkFile(logPath(dir))
	if err != nil || log == LogBoltDB {
		return c, err
	}
	c.segments, err = scanWAL(dir, c, nil)
	return c, err
}

// checkFile walks through the log file. The library itself would make a new one
// in the place of a missing or empty one, and end the process on one that is cut
// short.
func checkFile(path string) (*contents, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, damaged(path, "missing")
	case err != nil:
		return nil, fmt.Errorf("checking log file: %w", err)
	case info.Size() == 0:
		return nil, damaged(path, "empty")
	}
	var db *bbolt.DB
	err = protected(path, func() (err error) {
		db, err = bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true, Timeout: lockWait})
		return err
	})
	if err != nil {
		if errors.Is(err, berrors.ErrTimeout) || errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("opening log file %s: %w", path, err)
		}
		if errors.Is(err, offset.ErrDamaged) {
			return nil, err
		}
		return nil, damaged(path, "not readable: %v", err)
	}
	c, err := walkLog(db, path, info.Size())
	if cerr := db.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("closing log file: %w", cerr)
	}
	return c, err
}

// protected calls fn, which reads from the mapped log file. A damaged page makes
// the library panic, an unreadable one is a fault of memory: both come back as
// errors.
func protected(path string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damaged(path, "%v", p)
		}
	}()
	return fn()
}

// walkLog reads all of the file's tree.
func walkLog(db *bbolt.DB, path string, size int64) (*contents, error) {
	c := &contents{entries: &ledger{}, conf: make(map[string][]byte)}
	err := protected(path, func() error {
		tx, err := db.Begin(false)
		if err != nil {
			return damaged(path, "not readable: %v", err)
		}
		defer func() { _ = tx.Rollback() }() // it only reads
		if tx.Size() > size {
			return damaged(path, "%d bytes long, and should be %d at least", size, tx.Size())
		}
		return c.collect(tx, path)
	})
	if err != nil {
		return nil, err
	}
	c.store = string(c.conf[keyStore])
	if err := c.readValues(); err != nil {
		return nil, damaged(path, "%v", err)
	}
	return c, nil
}

// readValues reads the values that have sums.
func (c *contents) readValues() (err error) {
	if c.snapshot, err = c.number(keySnapshotIndex); err != nil {
		return err
	}
	if c.summed, err = c.number(keySummedFrom); err != nil {
		return err
	}
	if c.vote.CurrentTerm, err = c.number(keyCurrentTerm); err != nil {
		return err
	}
	record, ok := c.conf[keyVote]
	if !ok {
		return c.splitVote()
	}
	term, candidate, err := decodeVote(record)
	c.vote.Term, c.vote.Candidate = term, string(candidate)
	return err
}

// splitVote reads what Unsafe.SplitVote leaves in the place of a vote record.
func (c *contents) splitVote() (err error) {
	c.vote.Term, err = c.number(keyLastVoteTerm)
	c.vote.Candidate = string(c.conf[keyLastVoteCand])
	return err
}

// number returns 0 for a value that is not there.
func (c *contents) number(key string) (uint64, error) {
	val, ok := c.conf[key]
	if !ok {
		return 0, nil
	}
	return decodeNumber(key, val)
}

func (c *contents) collect(tx *bbolt.Tx, path string) error {
	logs, conf := tx.Bucket(bucketLogs), tx.Bucket(bucketConf)
	if logs == nil || conf == nil {
		return damaged(path, "no log file of raft's")
	}
	err := conf.ForEach(func(k, v []byte) error {
		c.conf[string(k)] = append([]byte(nil), v...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading log file: %w", err)
	}
	return logs.ForEach(func(k, v []byte) error {
		if len(k) != 8 || len(v) == 0 {
			return damaged(path, "entry with a key of %d and a value of %d bytes", len(k), len(v))
		}
		c.entries.put(binary.BigEndian.Uint64(k), len(v))
		return nil
	})
}
