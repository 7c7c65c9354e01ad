package fsm

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"

	"github.com/tidemark-mq/tidemark/fsm/table"
)

// WriteSnapshot writes what root holds to w, in pieces of about 256 KiB. It
// looks at nothing that changes, and lets other goroutines run between pieces.
// The error is that of w, or wraps offset.ErrDamaged if root holds what the
// format has no room for.
func WriteSnapshot(w io.Writer, root *table.Root) error {
	s := snapshotWriter{w: w}
	rest := root.Rest()
	if err := s.head(rest); err != nil {
		return err
	}
	if err := s.rest(rest); err != nil {
		return err
	}
	if err := root.Topics(s.run); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.end.Index, s.end.Digest = root.Index(), root.Digest()
	return s.finish()
}

// snapshotWriter collects parts of one kind into a block and writes it out
// when it is full.
type snapshotWriter struct {
	w    io.Writer
	buf  []byte // frame and content of the block that is being filled
	kind byte
	last runContext // the part before, for what is written as a difference
	end  SnapshotEnd
}

func (s *snapshotWriter) head(rest *table.Rest) error {
	h := make([]byte, snapshotHeadLen)
	copy(h, snapshotMagic)
	h[headLevelAt] = rest.Level
	copy(h[headClusterAt:], rest.Cluster[:])
	binary.BigEndian.PutUint32(h[headSumAt:], crc32.Checksum(h[:headSumAt], castagnoli))
	_, err := s.w.Write(h)
	return err
}

// begin makes room for a part of the given kind.
func (s *snapshotWriter) begin(kind byte) error {
	if len(s.buf) > 0 && s.kind == kind && len(s.buf) < fullBlock {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.kind = kind
	s.buf = append(s.buf[:0], kind, 0, 0, 0, 0)
	s.last.reset()
	return nil
}

// flush writes out the block that is being filled, if there is one.
func (s *snapshotWriter) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	n := len(s.buf) - frameLen
	if n > maxBlock {
		return snapshotDamaged("a block of %d bytes; at most %d are possible", n, maxBlock)
	}
	binary.BigEndian.PutUint32(s.buf[1:], uint32(n))
	s.buf = binary.BigEndian.AppendUint32(s.buf, blockSum(s.end.Blocks, s.buf))
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	s.end.Blocks++
	runtime.Gosched()
	return err
}

// finish writes the end.
func (s *snapshotWriter) finish() error {
	e := s.end // its own block is not counted
	if err := s.begin(blockEnd); err != nil {
		return err
	}
	for _, v := range [...]uint64{e.Blocks, e.Runs, e.Queues, e.Staged, e.Index} {
		s.buf = binary.BigEndian.AppendUint64(s.buf, v)
	}
	s.buf = append(s.buf, e.Digest[:]...)
	return s.flush()
}
