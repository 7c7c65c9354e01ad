// Package ackfile is the file in which a consumer of the story keeps what it
// was told: one line an event, written by one call at the moment the event is
// known, so that a kill of the process loses at most the newest line.
//
//	G <group> <topic> <broker>        whose file it is, quoted; the first line
//	R <time> <queue> <offset>         read from the store at a start; -1 is "no offset"
//	A <time> <queue> <offset>         acknowledged
//	U <time> <queue> <offset>         sent, and the outcome is not known
//	S <time> <queue> <offset>         an unknown one was resent and is now acknowledged
//	F <time> <queue> <offset>         fenced
//
// Times are Unix nanoseconds of the machine's clock.
package ackfile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Kind is the kind of an event.
type Kind byte

// The kinds of events.
const (
	Read         Kind = 'R'
	Acknowledged Kind = 'A'
	Unknown      Kind = 'U'
	Resent       Kind = 'S'
	Fenced       Kind = 'F'
)

// None is the offset of a Read that found none.
const None = -1

// Event is one line.
type Event struct {
	Kind   Kind
	Time   time.Time
	Queue  int32
	Offset int64
}

// Writer appends to one file. It is used by one goroutine.
type Writer struct {
	f   *os.File
	buf []byte
}

// Open appends to the file of one consumer, and begins it if it is new.
func Open(path string, k offset.Key) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.Size() == 0 {
		_, err = fmt.Fprintf(f, "G %q %q %q\n", k.Group, k.Topic, k.Broker)
	}
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", path, err)
	}
	return &Writer{f: f}, nil
}

// Write appends the events of one moment by a single call.
func (w *Writer) Write(k Kind, offsets map[int32]int64) error {
	w.buf = w.buf[:0]
	now := time.Now().UnixNano()
	for q, o := range offsets {
		w.buf = fmt.Appendf(w.buf, "%c %d %d %d\n", k, now, q, o)
	}
	_, err := w.f.Write(w.buf)
	return err
}

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }

// ReadFile reads a file: whose it is (without a queue), and its events in
// order. A last line that a kill left unfinished is ignored.
func ReadFile(path string) (k offset.Key, events []Event, err error) {
	f, err := os.Open(path)
	if err != nil {
		return k, nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return k, events, nil
		}
		if err != nil {
			return k, nil, err
		}
		if n == 1 {
			if _, err := fmt.Sscanf(line, "G %q %q %q", &k.Group, &k.Topic, &k.Broker); err != nil {
				return k, nil, fmt.Errorf("%s:1: %w", path, err)
			}
			continue
		}
		e, err := parse(line)
		if err != nil {
			return k, nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		events = append(events, e)
	}
}

func parse(line string) (Event, error) {
	var f [4]string
	if n, err := fmt.Sscan(line, &f[0], &f[1], &f[2], &f[3]); n != 4 {
		return Event{}, fmt.Errorf("%q is no event: %w", line, err)
	}
	var num [3]int64
	for i := range num {
		n, err := strconv.ParseInt(f[i+1], 10, 64)
		if err != nil {
			return Event{}, fmt.Errorf("%q is no event: %w", line, err)
		}
		num[i] = n
	}
	return Event{Kind: Kind(f[0][0]), Time: time.Unix(0, num[0]), Queue: int32(num[1]), Offset: num[2]}, nil
}

// Files reads all files of a folder, in the order of their names; visit gets
// each with its path.
func Files(dir string, visit func(path string, k offset.Key, events []Event) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.acks"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s holds no files of consumers", dir)
	}
	for _, p := range paths {
		k, events, err := ReadFile(p)
		if err == nil {
			err = visit(p, k, events)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
