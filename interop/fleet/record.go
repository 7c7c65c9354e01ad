package fleet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Record is the file in which a producer or the consumers of a group note one
// line for each message, at once; so it outlives the process.
type Record struct {
	tb   testing.TB
	path string
}

// record is the file of a group or producer: the same for the same name, so
// that consumers which are started again go on in it.
func (f *Fleet) record(name string) *Record {
	return &Record{f.tb, filepath.Join(f.dir, strings.NewReplacer("%", "_", "/", "_").Replace(name))}
}

// RecordAt is a file of such lines that a program beside the fleets writes.
func RecordAt(tb testing.TB, path string) *Record { return &Record{tb, path} }

// Message is one line of a record.
type Message struct {
	// Number is the message's: from 0 on, for each producer.
	Number int
	// Queue is broker/queue; a gRPC consumer does not tell it ("-").
	Queue string
	// Offset is where it lies in its queue; 0 from a gRPC consumer.
	Offset int64
	// Redelivered is how often the broker says that it was delivered before.
	Redelivered int
}

// All are the messages that were noted until now, in the order of their notes.
func (r *Record) All() (list []Message) {
	r.tb.Helper()
	text, err := os.ReadFile(r.path)
	if err != nil && !os.IsNotExist(err) {
		r.tb.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		var m Message
		if _, err := fmt.Sscan(string(line), &m.Number, &m.Queue, &m.Offset, &m.Redelivered); err != nil {
			r.tb.Fatalf("a record %s holds %q: %v", r.path, line, err)
		}
		list = append(list, m)
	}
	return list
}

// Len is how many messages were noted until now.
func (r *Record) Len() int {
	r.tb.Helper()
	text, err := os.ReadFile(r.path)
	if err != nil && !os.IsNotExist(err) {
		r.tb.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// Tally is what became of a producer's messages at a group.
type Tally struct {
	Sent      int // acknowledged to the producer
	Delivered int // of them, at least once
	Again     int // deliveries beyond the first
	Skipped   int // sent, never delivered
}

// String names the four counts.
func (t Tally) String() string {
	return fmt.Sprintf("sent %d, delivered %d, again %d, skipped %d", t.Sent, t.Delivered, t.Again, t.Skipped)
}

// Count compares what was sent with what came, in any of the records of a
// group. Messages that were not acknowledged to the producer do not count.
func Count(sent *Record, consumed ...*Record) Tally {
	times := make(map[int]int)
	for _, r := range consumed {
		for _, m := range r.All() {
			times[m.Number]++
		}
	}
	var t Tally
	for _, m := range sent.All() {
		n := times[m.Number]
		t.Sent++
		t.Delivered += min(n, 1)
		t.Again += max(n-1, 0)
	}
	t.Skipped = t.Sent - t.Delivered
	return t
}

// Await waits until all that was sent came, for at most d, and gives the tally.
func Await(d time.Duration, sent *Record, consumed ...*Record) Tally {
	for end := time.Now().Add(d); ; time.Sleep(100 * time.Millisecond) {
		if t := Count(sent, consumed...); t.Skipped == 0 || time.Now().After(end) {
			return t
		}
	}
}
