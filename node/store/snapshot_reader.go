package store

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// reader streams a snapshot's data and checks it on the way. The file is read
// once. The last chunk is handed out only after the sum over all of it has been
// found right, so whoever has got Size bytes has got the right ones.
type reader struct {
	file   *os.File
	meta   snapshotMeta
	report func(error) // told of damage, once

	chunk []byte // buf[i:n], read and not handed out
	buf   []byte
	read  int64
	sum   uint32
	err   error // sticky
}

func newReader(f *os.File, m snapshotMeta, report func(error)) *reader {
	return &reader{file: f, meta: m, report: report, buf: make([]byte, chunkBytes)}
}

// Read implements io.Reader. Damage is an error that wraps offset.ErrDamaged.
func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.chunk) == 0 && r.err == nil {
		r.fill()
	}
	if len(r.chunk) > 0 {
		n := copy(p, r.chunk)
		r.chunk = r.chunk[n:]
		return n, nil
	}
	return 0, r.err
}

// fill reads the next chunk.
func (r *reader) fill() {
	if r.read == r.meta.Size && r.read > 0 {
		r.err = io.EOF
		return
	}
	want := min(int64(len(r.buf)), r.meta.Size-r.read)
	n, err := io.ReadFull(r.file, r.buf[:want])
	r.read += int64(n)
	r.sum = crc32.Update(r.sum, castagnoli, r.buf[:n])
	switch {
	case err != nil:
		r.damage("reading stopped at byte %d of %d: %v", r.read, r.meta.Size, err)
	case r.read == r.meta.Size && sumText(r.sum) != r.meta.DataSum:
		r.damage("checksum is %s, and %s was written", sumText(r.sum), r.meta.DataSum)
	case n == 0:
		r.err = io.EOF // an empty snapshot
	default:
		r.chunk = r.buf[:n]
	}
}

func (r *reader) damage(format string, args ...any) {
	r.err = damaged(r.file.Name(), "%s", fmt.Sprintf(format, args...))
	r.report(r.err)
}

// Close implements io.Closer.
func (r *reader) Close() error {
	if err := r.file.Close(); err != nil {
		return fmt.Errorf("closing snapshot: %w", err)
	}
	return nil
}
