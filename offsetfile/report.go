package offsetfile

import (
	"fmt"
	"strconv"

	"github.com/tidemark-mq/tidemark/offset"
)

// Report says what a file held.
type Report struct {
	Format Format `json:"format"`
	// Bytes is the length of the file.
	Bytes int64 `json:"bytes"`
	// DataVersion is that of a broker's file; nil if it has none (4.9.x, RocksDB exports, LMQ).
	DataVersion *DataVersion `json:"dataVersion,omitempty"`
	// Native is what a native file says of itself; nil for others.
	Native *Header `json:"native,omitempty"`
	// Entries counts the (group, topic, broker) that hold offsets, Offsets
	// the offsets themselves.
	Entries int `json:"entries"`
	Offsets int `json:"offsets"`
	// SkippedTotal counts the places that were left out, Skipped lists the
	// first MaxSkips of them in the order of the file.
	SkippedTotal int    `json:"skippedTotal"`
	Skipped      []Skip `json:"skipped,omitempty"`
	// Notes are remarks for people: a skipped banner, members that were ignored.
	Notes []string `json:"notes,omitempty"`
}

// DataVersion is RocketMQ's counter of changes. Information only.
type DataVersion struct {
	Counter int64 `json:"counter"`
	// StateVersion is nil in files of 4.9.x.
	StateVersion *int64 `json:"stateVersion,omitempty"`
	// Timestamp is in Unix milliseconds.
	Timestamp int64 `json:"timestamp"`
}

// Skip is one place that was left out.
type Skip struct {
	// The place is zero where it is not known: in the file of a broadcasting
	// consumer.
	Position
	// Key is the key as it stands in the file ("topic@group"); a string from
	// outside, to be quoted where it is shown.
	Key string `json:"key"`
	// Queue and Value are set where one queue of the key was left out.
	Queue *int32 `json:"queue,omitempty"`
	Value *int64 `json:"value,omitempty"`
	// Reason says why.
	Reason string `json:"reason"`
}

// String gives the skip in one line, names quoted.
func (s Skip) String() string {
	where := strconv.Quote(s.Key)
	if s.Line > 0 {
		where = fmt.Sprintf("%d:%d: %s", s.Line, s.Column, where)
	}
	if s.Queue != nil {
		where += fmt.Sprintf(" queue %d", *s.Queue)
	}
	return where + ": " + s.Reason
}

// Position is a place in a file.
type Position struct {
	// Line and Column count from 1, columns in bytes.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Byte counts from 0.
	Byte int64 `json:"byte"`
}

// Fault is why a file was refused whole. It wraps offset.ErrInvalid.
type Fault struct {
	// At is the place of the first fault.
	Position
	// Text says what was found there, and what to do.
	Text string
}

// Error gives place and text.
func (f *Fault) Error() string {
	return fmt.Sprintf("line %d, column %d (byte %d): %s", f.Line, f.Column, f.Byte, f.Text)
}

// Unwrap returns offset.ErrInvalid.
func (f *Fault) Unwrap() error { return offset.ErrInvalid }
