package offsetfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// nativeMagic begins a native file; a version follows.
const nativeMagic = "# tidemark-offsets "

// nativeVersion is the one that is written, and the only one read.
const nativeVersion = 1

// nativeEnd begins the last line.
const nativeEnd = "# end "

// Header is what a native file says of itself. Nothing is decided by it.
type Header struct {
	// Cluster is the id of the cluster that the offsets come from, in 32
	// hexadecimal digits.
	Cluster string `json:"cluster"`
	// Index is that of the state they were read from.
	Index uint64 `json:"index,string"`
	// Written is when, in Unix milliseconds.
	Written int64 `json:"written"`
}

// String gives the fields of the first line, behind the version.
func (h Header) String() string {
	return fmt.Sprintf("cluster=%s index=%d written=%s", h.Cluster, h.Index, time.UnixMilli(h.Written).UTC().Format(stamp))
}

// stamp is how a native file writes a time.
const stamp = "2006-01-02T15:04:05.000Z"

// WriteNative writes targets, of any number of brokers and in any order, as a
// native file: CSV between a first line that says where the offsets come from,
// and a last one that holds their number and a SHA-256 of all lines before it.
// So a file that is cut off or was changed is refused when it is read. It is
// written as it comes; head is called once, when the first target has come or
// when there is none. It carries keys and offsets; not indexes, epochs, times,
// pending marks, claims or floors, which belong to the cluster they are in.
func WriteNative(w io.Writer, targets iter.Seq[offset.Target], head func() Header) error {
	n := &nativeWriter{sum: sha256.New()}
	n.w = bufio.NewWriter(io.MultiWriter(w, n.sum))
	for t := range targets {
		if n.rows == 0 {
			n.begin(head())
		}
		n.rows++
		n.line = appendRow(n.line[:0], &t)
		_, _ = n.w.Write(n.line) // the first error comes back from Flush
	}
	if n.rows == 0 {
		n.begin(head())
	}
	err := n.w.Flush()
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%d sha256=%x\n", nativeEnd, n.rows, n.sum.Sum(nil))
	}
	if err != nil {
		return fmt.Errorf("writing the offset file: %w", err)
	}
	return nil
}

// nativeWriter writes one native file.
type nativeWriter struct {
	w    *bufio.Writer
	sum  hash.Hash
	rows int
	line []byte
}

func (n *nativeWriter) begin(h Header) { fmt.Fprint(n.w, firstLines(h)) }

// firstLines are the two lines above the offsets.
func firstLines(h Header) string {
	return fmt.Sprintf("%s%d %s\n%s\n", nativeMagic, nativeVersion, h, csvHead)
}

// appendRow appends the line of an offset.
func appendRow(b []byte, t *offset.Target) []byte {
	for _, s := range [...]string{t.Key.Group, t.Key.Topic, t.Key.Broker} {
		b = append(append(b, csvField(s)...), ',')
	}
	b = append(strconv.AppendInt(b, int64(t.Key.QueueID), 10), ',')
	return append(strconv.AppendInt(b, t.Offset, 10), '\n')
}

// readNative reads a native file.
func readNative(s *scanner, o Options) (*File, error) {
	if err := s.skipMark(); err != nil {
		return nil, err
	}
	h, err := s.nativeHead()
	if err != nil {
		return nil, err
	}
	c := &csvReader{scanner: s, cols: nativeColumns, b: newBuilder(o, Native), seal: &seal{sum: sha256.New()}}
	io.WriteString(c.seal.sum, firstLines(h)) // a hash takes whatever it is given
	if err := c.file(); err != nil {
		return nil, err
	}
	r := &c.b.file.Report
	r.Native, r.Notes = &h, append(r.Notes, fmt.Sprintf("the file is whole; it was written from %s", h))
	return c.b.done(), nil
}

// nativeHead consumes the first line.
func (s *scanner) nativeHead() (h Header, err error) {
	at := s.at()
	line, err := s.comment()
	if err != nil {
		return h, err
	}
	version, fields, _ := strings.Cut(strings.TrimPrefix(line, nativeMagic), " ")
	v, err := strconv.Atoi(version)
	switch {
	case !strings.HasPrefix(line, nativeMagic) || err != nil || v < 1:
		return h, fault(at, "the first line is %q; that of a native file begins with %q and a version", clip([]byte(line)), nativeMagic)
	case v > nativeVersion:
		return h, fault(at, "the file has version %d, and this build reads up to %d: use a newer build", v, nativeVersion)
	}
	return h, parseHeader(&h, fields, at)
}

// parseHeader reads the fields behind the version, which are always these.
func parseHeader(h *Header, fields string, at Position) error {
	f := strings.Split(fields, " ")
	var err error
	if len(f) == 3 {
		var t time.Time
		h.Cluster = strings.TrimPrefix(f[0], "cluster=")
		if _, err = offset.ParseClusterID(h.Cluster); err == nil {
			h.Index, err = strconv.ParseUint(strings.TrimPrefix(f[1], "index="), 10, 64)
		}
		if err == nil {
			t, err = time.Parse(stamp, strings.TrimPrefix(f[2], "written="))
		}
		h.Written = t.UnixMilli()
	}
	if len(f) != 3 || err != nil || h.String() != fields {
		return fault(at, "the first line holds %q where cluster=… index=… written=… should be; the file was changed", clip([]byte(fields)))
	}
	return nil
}

// comment consumes a line that begins with '#', of at most MaxString bytes.
func (s *scanner) comment() (string, error) {
	b, err := s.ahead(MaxString)
	if err != nil {
		return "", err
	}
	n := bytes.IndexByte(b, '\n')
	switch {
	case n < 0 && len(b) == MaxString:
		return "", fault(s.at(), "the line that begins here has more than %d bytes", MaxString)
	case n < 0:
		n = len(b)
	}
	line := string(bytes.TrimSuffix(b[:n], []byte("\r")))
	s.pos += n
	if c, more, err := s.peek(); err != nil || !more || c != '\n' {
		return line, err
	}
	s.pos++
	s.newline()
	return line, nil
}

// seal keeps the sum of a native file, and compares it with what its end says.
// A nil one belongs to a file without.
type seal struct {
	sum  hash.Hash
	line []byte
}

// row adds a line, as WriteNative writes it.
func (l *seal) row(t offset.Target) {
	if l == nil {
		return
	}
	l.line = appendRow(l.line[:0], &t)
	l.sum.Write(l.line)
}

// missing refuses a file that ends without its end.
func (l *seal) missing(at Position) error {
	if l == nil {
		return nil
	}
	return fault(at, "the file ends without its last line, which begins with %q: it is cut off", nativeEnd)
}

// end consumes the last line, and refuses what it does not fit to.
func (l *seal) end(s *scanner, rows int) error {
	at := s.at()
	line, err := s.comment()
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("%s%d sha256=%s", nativeEnd, rows, hex.EncodeToString(l.sum.Sum(nil))); line != want {
		return fault(at, "the last line is %q, and the lines above make %q: the file was changed, or is not whole", clip([]byte(line)), want)
	}
	return s.trailing("the file")
}
