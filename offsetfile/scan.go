package offsetfile

import (
	"errors"
	"fmt"
	"io"
)

// window is how much of a file is in memory at a time, apart from what is kept.
const window = 64 << 10

// scanner reads bytes and knows where it is. Every fault it returns is a
// *Fault; anything else is what the reader under it failed with.
type scanner struct {
	r io.Reader
	// buf[pos:end] has been read and not yet been consumed; start is the
	// place of buf[0] in the file.
	buf      []byte
	pos, end int
	start    int64
	// err is what r ended with, io.EOF included.
	err error
	// line is the number of the line; lineStart is where it begins.
	line      int
	lineStart int64
	// text is the last string read; valid until the next.
	text []byte
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, window), line: 1}
}

// at returns where the next byte stands.
func (s *scanner) at() Position {
	b := s.start + int64(s.pos)
	return Position{Line: s.line, Column: int(b-s.lineStart) + 1, Byte: b}
}

// fault returns the error that refuses the file for what stands at p.
func fault(p Position, format string, args ...any) error {
	return &Fault{Position: p, Text: fmt.Sprintf(format, args...)}
}

// peek returns the next byte without consuming it; ok is false at the end.
func (s *scanner) peek() (c byte, ok bool, err error) {
	if s.pos < s.end {
		return s.buf[s.pos], true, nil
	}
	if err := s.fill(); err != nil {
		return 0, false, err
	}
	if s.pos < s.end {
		return s.buf[s.pos], true, nil
	}
	return 0, false, nil
}

// ahead returns up to n bytes that come next, fewer only at the end; n is at
// most the window.
func (s *scanner) ahead(n int) ([]byte, error) {
	for s.end-s.pos < n && s.err == nil {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	if err := s.failed(); err != nil {
		return nil, err
	}
	return s.buf[s.pos:min(s.end, s.pos+n)], nil
}

func (s *scanner) failed() error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return fmt.Errorf("reading the file: %w", s.err)
	}
	return nil
}

// fill reads more behind what is there.
func (s *scanner) fill() error {
	if s.err != nil {
		return s.failed()
	}
	if s.pos > 0 {
		copy(s.buf, s.buf[s.pos:s.end])
		s.start += int64(s.pos)
		s.end -= s.pos
		s.pos = 0
	}
	if s.start+int64(s.end) > MaxBytes {
		return fault(s.at(), "the file is longer than %d bytes", int64(MaxBytes))
	}
	for tries := 0; tries < 100; tries++ {
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		s.err = err
		if n > 0 || err != nil {
			return s.failed()
		}
	}
	s.err = io.ErrNoProgress
	return s.failed()
}

// newline is called when a line feed was consumed.
func (s *scanner) newline() {
	s.line++
	s.lineStart = s.start + int64(s.pos)
}

// space consumes blanks, tabs and line ends.
func (s *scanner) space() error {
	for {
		c, ok, err := s.peek()
		if err != nil || !ok {
			return err
		}
		switch c {
		case '\n':
			s.pos++
			s.newline()
		case ' ', '\t', '\r':
			s.pos++
		default:
			return nil
		}
	}
}

// next consumes blanks and returns the byte behind them, unconsumed; at the
// end of the file it is a fault that says what was missing.
func (s *scanner) next(missing string) (byte, error) {
	if err := s.space(); err != nil {
		return 0, err
	}
	c, ok, err := s.peek()
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, fault(s.at(), "the file ends where %s is missing; it is cut off", missing)
	}
	return c, nil
}

// expect consumes blanks and the byte c.
func (s *scanner) expect(c byte, what string) error {
	got, err := s.next(what)
	if err != nil {
		return err
	}
	if got != c {
		return fault(s.at(), "found %s where %s should be", show(got), what)
	}
	s.pos++
	return nil
}

// show names a byte for people.
func show(c byte) string {
	if c > ' ' && c < 0x7f {
		return fmt.Sprintf("%q", c)
	}
	return fmt.Sprintf("byte 0x%02x", c)
}
