package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	segments "github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// The keys under which log.db holds what belongs to the segments: which there
// are, and the newest one that has held an acknowledged entry.
const (
	keySegments = "TidemarkSegments"
	keyWritten  = "TidemarkWrittenSegment"
)

func walDir(dir string) string { return filepath.Join(dir, walName) }

// walScan is what a look at all segments has found. Nothing was written.
type walScan struct {
	state types.PersistentState
	// tail is the segment that is written to, nil if there is no file of it.
	tail *segment
}

// scanWAL reads every segment whole, and every sum. The library checks the sum of
// the last batch alone, takes what follows a damaged frame for never written,
// and recreates a missing last segment: each would be a log that has silently become
// shorter. visit may be nil.
func scanWAL(dir string, c *contents, visit func(index uint64, payload []byte) error) (*walScan, error) {
	raw, ok := c.conf[keySegments]
	if !ok {
		return nil, damaged(logPath(dir), "the list of segments is missing")
	}
	w := &walScan{}
	if err := json.Unmarshal(raw, &w.state); err != nil {
		return nil, damaged(logPath(dir), "the list of segments is not readable: %v", err)
	}
	for i, info := range w.state.Segments {
		sealed := !info.SealTime.IsZero()
		if !sealed && i < len(w.state.Segments)-1 {
			return nil, damaged(logPath(dir), "segment %d is open and not the last", info.ID)
		}
		s, err := scanSegment(dir, info, c)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return w, nil
		}
		if !sealed {
			w.tail = s
		}
		if err := s.each(func(index uint64, payload []byte) error {
			c.entries.put(index, len(payload))
			if visit != nil {
				return visit(index, payload)
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// scanSegment reads one segment; nil if it is the last, has no file, and never
// held anything that was acknowledged.
func scanSegment(dir string, info types.SegmentInfo, c *contents) (*segment, error) {
	name := segments.FileName(info)
	path := filepath.Join(walDir(dir), name)
	data, err := os.ReadFile(path)
	switch sealed := !info.SealTime.IsZero(); {
	case errors.Is(err, os.ErrNotExist) && !sealed && string(c.conf[keyWritten]) != name:
		return nil, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, damaged(path, "missing")
	case err != nil:
		return nil, fmt.Errorf("reading log segment: %w", err)
	}
	s, err := readSegment(info, data)
	if err != nil {
		return nil, damaged(path, "%v", err)
	}
	return s, s.checkEnd(path, string(c.conf[keyWritten]) == name)
}

// checkEnd checks that the segment holds all that it has to.
func (s *segment) checkEnd(path string, written bool) error {
	switch sealed := !s.info.SealTime.IsZero(); {
	case sealed && (uint64(s.index) != s.info.IndexStart || s.last() < s.info.MaxIndex):
		return damaged(path, "it is whole up to entry %d, byte %d, and should be up to %d", s.last(), s.end, s.info.MaxIndex)
	case sealed:
		return nil
	case written && len(s.entries) == 0:
		return damaged(path, "it held entries, and holds none")
	case !s.torn():
		return damaged(path, "it is whole up to entry %d, byte %d, and damaged behind", s.last(), s.end)
	}
	return nil
}

// each yields the entries that count: not what was cut off at either end.
func (s *segment) each(visit func(uint64, []byte) error) error {
	for i, payload := range s.entries {
		index := s.info.BaseIndex + uint64(i)
		if index < s.info.MinIndex || s.info.MaxIndex > 0 && index > s.info.MaxIndex {
			continue
		}
		if err := visit(index, payload); err != nil {
			return err
		}
	}
	return nil
}

// mend makes the segments such that the library continues where the scan ended,
// which is before it opens them: what a torn batch has left becomes zeros, so
// that nothing later is taken for a part of it; and a segment that was closed,
// but not yet followed by the next, is followed, for the library would refuse
// every further append. It returns the list as it is now.
func (w *walScan) mend(dir string) (types.PersistentState, error) {
	if w.tail == nil {
		return w.state, nil
	}
	s := w.tail
	if err := s.blank(filepath.Join(walDir(dir), segments.FileName(s.info))); err != nil {
		return w.state, err
	}
	if s.index == 0 {
		return w.state, nil
	}
	list := append([]types.SegmentInfo(nil), w.state.Segments...)
	closed := &list[len(list)-1]
	closed.SealTime, closed.MaxIndex, closed.IndexStart = time.Now(), s.last(), uint64(s.index)
	next := *closed
	next.ID, next.BaseIndex, next.MinIndex = w.state.NextSegmentID, s.last()+1, s.last()+1
	next.MaxIndex, next.IndexStart, next.CreateTime, next.SealTime = 0, 0, closed.SealTime, time.Time{}
	return types.PersistentState{NextSegmentID: w.state.NextSegmentID + 1, Segments: append(list, next)}, nil
}

// prepare makes a store's segments ready to be opened for writing. The folder is
// synced: a segment whose first write was cut off may not have its name on the
// disk yet, and the library does not sync it again.
func (w *walScan) prepare(cfg Config, db *raftboltdb.BoltStore) error {
	if w == nil {
		return nil
	}
	if err := SyncFolder(walDir(cfg.Dir)); err != nil {
		return err
	}
	state, err := w.mend(cfg.Dir)
	if err != nil || state.NextSegmentID == w.state.NextSegmentID {
		return err
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return db.Set([]byte(keySegments), raw)
}

// blank overwrites what follows the last whole batch.
func (s *segment) blank(path string) error {
	dirty := false
	for _, b := range s.data[s.end:] {
		dirty = dirty || b != 0
	}
	if !dirty {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, fileMode)
	if err != nil {
		return fmt.Errorf("opening log segment: %w", err)
	}
	_, err = f.WriteAt(make([]byte, len(s.data)-s.end), int64(s.end))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("clearing the end of log segment %s: %w", path, err)
	}
	return nil
}

// decodeEntry decodes an entry as the library encodes it, and checks it. Of a
// number that is too long, or a length beyond the bytes, the library's decoder
// panics.
func decodeEntry(index uint64, payload []byte, out *raft.Log, summed uint64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it can't be decoded: %v", p)
		}
	}()
	*out = raft.Log{}
	if err := (&wal.BinaryCodec{}).Decode(payload, out); err != nil {
		return err
	}
	return checkEntry(index, out, summed)
}
