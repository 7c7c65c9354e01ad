// Package backup writes and reads backups: files that hold the whole state of a
// cluster at one index, with what shows that they are whole. A backup is a head,
// a snapshot as package fsm writes it, and a sum of all that comes before; the
// byte table is in docs/formats.md.
//
// The sum is what a backup is known by, its ID. Nothing is believed before it is
// right, so that no change of any byte gets further than a message.
package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

const (
	magic = "TIDEBACK"
	// Version is the version of the file that is written, and the highest read.
	Version = 1

	versionAt = len(magic)
	timeAt    = 12 // after the version and three zeros
	textsAt   = 20
	crcLen    = 4
	sumLen    = sha256.Size
	// maxText bounds a text of the head, in bytes.
	maxText = 512
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is what a backup says of its making. Nothing is decided by it.
type Header struct {
	// Time is the clock of the node that wrote it, Unix milliseconds.
	Time int64
	// Node is the node's id, "name/member-id", Build the version of its program.
	// At most 512 bytes count of each.
	Node, Build string
}

// ID is the SHA-256 of all of a backup except its last 32 bytes, which repeat it.
type ID [sha256.Size]byte

// String gives it as sha256sum does.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Backup is a backup that was read whole and found right.
type Backup struct {
	Header
	ID ID
	// Bytes is the size of the file.
	Bytes int64
	// Root is the state it holds, with its cluster, index, digest and level.
	Root *table.Root
}

// Write writes a backup of root to w, in pieces of about 256 KiB, and gives its
// id. It looks at nothing that changes. The error is that of w, or wraps
// offset.ErrDamaged if root holds what the format has no room for.
func Write(w io.Writer, h Header, root *table.Root) (ID, error) {
	s := &summed{w: w, sum: sha256.New()}
	if _, err := s.Write(h.encode()); err != nil {
		return ID{}, err
	}
	if err := fsm.WriteSnapshot(s, root); err != nil {
		return ID{}, err
	}
	id := ID(s.sum.Sum(nil))
	_, err := w.Write(id[:])
	return id, err
}

// summed sums up what it writes.
type summed struct {
	w   io.Writer
	sum hash.Hash
}

// Write writes b, and sums up what of it was written.
func (s *summed) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.sum.Write(b[:n])
	return n, err
}

// Sum is a writer that tells whether what is written to it ends with its sum, as
// a whole backup does.
type Sum struct {
	sum  hash.Hash
	tail []byte // the last bytes, which may be the sum
}

// Write takes b in; it never fails.
func (s *Sum) Write(b []byte) (int, error) {
	if s.sum == nil {
		s.sum = sha256.New()
	}
	s.tail = append(s.tail, b...)
	if n := len(s.tail) - sumLen; n > 0 {
		s.sum.Write(s.tail[:n])
		s.tail = append(s.tail[:0], s.tail[n:]...)
	}
	return len(b), nil
}

// ID gives the id of the backup that was written, or an error that wraps
// offset.ErrDamaged if it was none, or not whole.
func (s *Sum) ID() (ID, error) {
	if len(s.tail) < sumLen {
		return ID{}, damaged("it has %d bytes, which is less than any backup", len(s.tail))
	}
	id := ID(s.tail)
	if got := ID(s.sum.Sum(nil)); got != id {
		return id, damaged("it ends with the SHA-256 %s, and what is before has %s", id, got)
	}
	return id, nil
}

func (h Header) encode() []byte {
	b := make([]byte, textsAt, 128)
	copy(b, magic)
	b[versionAt] = Version
	binary.BigEndian.PutUint64(b[timeAt:], uint64(h.Time))
	for _, text := range []string{h.Node, h.Build} {
		text = strings.ToValidUTF8(text[:min(len(text), maxText)], "")
		b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// Read reads a whole backup of size bytes and builds its state, which takes as
// much memory as a node's. The error wraps offset.ErrDamaged, or offset.ErrLevel
// for one that a newer build wrote, or is that of r.
func Read(r io.ReaderAt, size int64) (*Backup, error) {
	h, id, state, err := open(r, size)
	if err != nil {
		return nil, err
	}
	t, err := fsm.ReadSnapshot(state, offset.ClusterID{})
	if err != nil {
		return nil, err
	}
	return &Backup{Header: h, ID: id, Bytes: size, Root: t.Root()}, nil
}

// Visitor gets what a backup holds; Head comes first.
type Visitor interface {
	Backup(h Header, id ID) error
	fsm.SnapshotVisitor
}

// Scan is Read without building the state: it passes what the backup holds to v. The
// digest is passed on, not compared. The error may be v's, too.
func Scan(r io.ReaderAt, size int64, v Visitor) error {
	h, id, state, err := open(r, size)
	if err != nil {
		return err
	}
	if err := v.Backup(h, id); err != nil {
		return err
	}
	return fsm.ScanSnapshot(state, v)
}

// Is reports whether the bytes that a file begins with are those of a backup.
func Is(front []byte) bool { return bytes.HasPrefix(front, []byte(magic)) }

// open checks the sum of all, then the head, and gives the reader of the state.
func open(r io.ReaderAt, size int64) (Header, ID, io.Reader, error) {
	id, err := checkSum(r, size)
	if err != nil {
		return Header{}, id, nil, err
	}
	all := io.NewSectionReader(r, 0, size-sumLen)
	h, n, err := readHeader(all)
	if err != nil {
		return Header{}, id, nil, err
	}
	return h, id, io.NewSectionReader(r, n, size-sumLen-n), nil
}

// checkSum compares the sum at the end with what is before it.
func checkSum(r io.ReaderAt, size int64) (id ID, err error) {
	front := make([]byte, min(size, int64(len(magic))))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), front); err != nil {
		return id, ended(err, size)
	}
	if !Is(front) {
		return id, damaged("it does not begin as one: it is another file (those of offsets are read by `tidemark import`), or its front is damaged")
	}
	if size < textsAt+sumLen {
		return id, damaged("it has %d bytes, which is less than any backup; it was cut off", size)
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.NewSectionReader(r, 0, size-sumLen)); err != nil || n < size-sumLen {
		return id, ended(err, size)
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, size-sumLen, sumLen), id[:]); err != nil {
		return id, ended(err, size)
	}
	if got := ID(sum.Sum(nil)); got != id {
		return id, damaged("its %d bytes end with the SHA-256 %s, and those before it have %s: it was cut off, changed, or something follows its end", size, id, got)
	}
	return id, nil
}

// readHeader reads the head, and returns how long it is.
func readHeader(r io.Reader) (h Header, n int64, err error) {
	b := make([]byte, textsAt)
	if err := full(r, b); err != nil {
		return h, 0, err
	}
	if v := b[versionAt]; v > Version {
		return h, 0, offset.Errorf(offset.ErrLevel, "the backup is of version %d; this build reads up to %d, run a newer one", v, Version)
	} else if v == 0 || [3]byte(b[versionAt+1:timeAt]) != [3]byte{} {
		return h, 0, damaged("its head has version %d and %x behind it", v, b[versionAt+1:timeAt])
	}
	h.Time = int64(binary.BigEndian.Uint64(b[timeAt:]))
	for _, text := range []*string{&h.Node, &h.Build} {
		if b, *text, err = readText(r, b); err != nil {
			return h, 0, err
		}
	}
	var crc [crcLen]byte
	if err := full(r, crc[:]); err != nil {
		return h, 0, err
	}
	if binary.BigEndian.Uint32(crc[:]) != crc32.Checksum(b, castagnoli) {
		return h, 0, damaged("the sum of its head is wrong")
	}
	return h, int64(len(b) + crcLen), nil
}

// readText reads a text and appends its bytes to the head that was read before.
func readText(r io.Reader, head []byte) ([]byte, string, error) {
	var length [2]byte
	if err := full(r, length[:]); err != nil {
		return nil, "", err
	}
	n := binary.BigEndian.Uint16(length[:])
	if n > maxText {
		return nil, "", damaged("a text of its head has %d bytes; at most %d are possible", n, maxText)
	}
	text := make([]byte, n)
	if err := full(r, text); err != nil {
		return nil, "", err
	}
	if !utf8.Valid(text) {
		return nil, "", damaged("its head holds what is no text")
	}
	return append(append(head, length[:]...), text...), string(text), nil
}

// full reads b to its end; that the head ends before is damage.
func full(r io.Reader, b []byte) error {
	if _, err := io.ReadFull(r, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("its head ends too early")
	} else if err != nil {
		return err
	}
	return nil
}

// ended is an error of a file that gives less than its size says.
func ended(err error, size int64) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("it gives fewer bytes than the %d that it has: it is being written, or cut off", size)
	}
	return err
}

func damaged(format string, args ...any) error {
	return offset.Errorf(offset.ErrDamaged, "backup: "+format, args...)
}
