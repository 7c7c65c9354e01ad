package fsm

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// SnapshotVisitor is told what a snapshot holds, in the order in which it is
// read. What it gets is valid during the call only, strings excepted. The
// first error that it returns ends the reading. Nothing can be relied on until
// End has been called.
type SnapshotVisitor interface {
	// Head: the format level and cluster that the file names.
	Head(level uint8, cluster offset.ClusterID) error
	// Rest: all but the runs; called once.
	Rest(*table.Rest) error
	// Run: one run of queues.
	Run(*table.TopicState) error
	// End: the counts have been compared with what was read, the digest not.
	End(*SnapshotEnd) error
}

// ReadSnapshot reads a whole snapshot of a cluster, with a zero id of whichever it
// names, and returns its table. The error wraps offset.ErrDamaged,
// ErrForeignCluster or ErrLevel, or is that of r.
func ReadSnapshot(r io.Reader, cluster offset.ClusterID) (*table.Table, error) {
	l := loader{cluster: cluster}
	if err := ScanSnapshot(r, &l); err != nil {
		return nil, err
	}
	return l.table, nil
}

// loader builds a table of what a snapshot holds.
type loader struct {
	cluster offset.ClusterID
	builder *table.Builder
	table   *table.Table
}

func (l *loader) Head(_ uint8, cluster offset.ClusterID) error {
	if cluster != l.cluster && !l.cluster.IsZero() {
		return offset.Errorf(offset.ErrForeignCluster, "the snapshot is one of cluster %s, this node's is %s", cluster, l.cluster)
	}
	return nil
}

func (l *loader) Rest(r *table.Rest) error {
	l.builder = table.NewBuilder(r)
	return nil
}

func (l *loader) Run(t *table.TopicState) error { return l.builder.AddTopic(t) }

func (l *loader) End(e *SnapshotEnd) error {
	t, err := l.builder.Done()
	if err != nil {
		return err
	}
	if got := t.Root(); got.Digest() != e.Digest || got.Index() != e.Index {
		return snapshotDamaged("its content at index %d has digest %s, its end says index %d and %s", got.Index(), got.Digest(), e.Index, e.Digest)
	}
	l.table = t
	return nil
}

// ScanSnapshot reads a whole snapshot and passes what it holds to v, without
// building a table. The error is v's or r's, or wraps offset.ErrDamaged, or
// ErrLevel for a snapshot that a newer build wrote.
func ScanSnapshot(r io.Reader, v SnapshotVisitor) error {
	s := snapshotReader{r: bufio.NewReaderSize(r, 64<<10), visitor: v}
	if err := s.head(); err != nil {
		return err
	}
	for !s.ended {
		if err := s.block(); err != nil {
			return err
		}
	}
	if _, err := s.r.ReadByte(); !errors.Is(err, io.EOF) {
		if err != nil {
			return err
		}
		return snapshotDamaged("something follows its end")
	}
	return nil
}

// snapshotReader reads block after block.
type snapshotReader struct {
	r       *bufio.Reader
	visitor SnapshotVisitor
	buf     []byte
	decode  blockDecoder
	got     SnapshotEnd // what was read so far
	ended   bool
}

// full reads b to its end. That the file ends before is damage.
func (s *snapshotReader) full(b []byte) error {
	_, err := io.ReadFull(s.r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return snapshotDamaged("it ends too early, in block %d", s.got.Blocks)
	}
	return err
}

func (s *snapshotReader) head() error {
	h := make([]byte, snapshotHeadLen)
	if err := s.full(h); err != nil {
		return err
	}
	level := h[headLevelAt]
	switch {
	case string(h[:len(snapshotMagic)]) != snapshotMagic:
		return snapshotDamaged("it does not begin as one")
	case binary.BigEndian.Uint32(h[headSumAt:]) != crc32.Checksum(h[:headSumAt], castagnoli):
		return snapshotDamaged("the sum of its head is wrong")
	case level > offset.FormatLevel:
		return offset.Errorf(offset.ErrLevel, "the snapshot is of level %d; this build reads up to %d, run a newer one", level, offset.FormatLevel)
	case level == 0:
		return snapshotDamaged("level 0")
	}
	cluster := offset.ClusterID(h[headClusterAt:headSumAt])
	s.decode.rest.Level, s.decode.rest.Cluster = level, cluster
	return s.visitor.Head(level, cluster)
}

// block reads one block. Its length is believed as far as maxBlock, its
// content once the sum is right.
func (s *snapshotReader) block() error {
	s.buf = append(s.buf[:0], make([]byte, frameLen)...)
	if err := s.full(s.buf); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(s.buf[1:])
	if n > maxBlock {
		return snapshotDamaged("block %d says that it has %d bytes; at most %d are possible", s.got.Blocks, n, maxBlock)
	}
	if err := s.content(int(n)); err != nil {
		return err
	}
	kind, content := s.buf[0], s.buf[frameLen:]
	if kind == blockEnd {
		return s.end(content)
	}
	s.got.Blocks++
	return s.part(kind, content)
}

// content reads the content of a block and compares the sum.
func (s *snapshotReader) content(n int) error {
	if want := frameLen + n; cap(s.buf) < want {
		s.buf = append(make([]byte, 0, want), s.buf...)
	}
	s.buf = s.buf[:frameLen+n]
	if err := s.full(s.buf[frameLen:]); err != nil {
		return err
	}
	var sum [sumLen]byte
	if err := s.full(sum[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(sum[:]) != blockSum(s.got.Blocks, s.buf) {
		return snapshotDamaged("the sum of block %d is wrong", s.got.Blocks)
	}
	return nil
}

// part takes a block that is not the end.
func (s *snapshotReader) part(kind byte, content []byte) error {
	if first := s.got.Blocks == 1; first != (kind == blockState) {
		return snapshotDamaged("block %d is of kind %d; the first is of kind %d, and no other", s.got.Blocks-1, kind, blockState)
	}
	if kind != blockRuns {
		if s.decode.told {
			return snapshotDamaged("block %d is of kind %d, after the queues", s.got.Blocks-1, kind)
		}
		return s.decode.part(kind, content)
	}
	if err := s.tellRest(); err != nil {
		return err
	}
	return s.decode.runs(content, func(t *table.TopicState) error {
		s.got.count(t)
		return s.visitor.Run(t)
	})
}

// tellRest tells the visitor of all but the runs, once it is complete.
func (s *snapshotReader) tellRest() error {
	if s.decode.told {
		return nil
	}
	s.decode.told = true
	return s.visitor.Rest(&s.decode.rest)
}

// end compares what the end says with what was read.
func (s *snapshotReader) end(content []byte) error {
	if len(content) != endLen {
		return snapshotDamaged("its end has %d bytes instead of %d", len(content), endLen)
	}
	if s.got.Blocks == 0 {
		return snapshotDamaged("it has an end only")
	}
	if err := s.tellRest(); err != nil {
		return err
	}
	var e SnapshotEnd
	for i, p := range [...]*uint64{&e.Blocks, &e.Runs, &e.Queues, &e.Staged, &e.Index} {
		*p = binary.BigEndian.Uint64(content[8*i:])
	}
	copy(e.Digest[:], content[endLen-len(e.Digest):])
	s.got.Index, s.got.Digest = s.decode.rest.Index, e.Digest
	if s.got != e {
		return snapshotDamaged("its end says %+v, it holds %+v", e, s.got)
	}
	s.ended = true
	return s.visitor.End(&e)
}
