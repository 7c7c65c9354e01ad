package record

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// History is what was done to one cluster, from when it was empty until all
// clients had ended.
type History struct {
	// Seed is what clients and faults were drawn from.
	Seed uint64
	// Cluster is the cluster's id.
	Cluster offset.ClusterID
	// Ops are in the order in which they ended.
	Ops []*Op
	// Log is what the nodes' logs agree on, by index, as far as it was applied.
	// Cut tells that it has not all from the first entry.
	Log []Entry
	Cut bool
	// Events are faults and what else there is to show, in their order.
	Events []Event
}

// Entry is an entry of the log.
type Entry struct {
	Index, Term uint64
	// Command tells that Data is an entry of ours.
	Command bool
	Data    []byte
}

// Event is something that was done to the cluster, or seen of it.
type Event struct {
	At, End time.Duration
	Text    string
}

// Recorder makes a history. Its methods may be called from any goroutine.
type Recorder struct {
	began time.Time

	mu sync.Mutex
	h  History // guarded by mu
}

// New begins a history.
func New(seed uint64) *Recorder { return &Recorder{began: time.Now(), h: History{Seed: seed}} }

// Now is the time since the history began.
func (r *Recorder) Now() time.Duration { return time.Since(r.began) }

// Add adds an operation that has ended.
func (r *Recorder) Add(o *Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Ops = append(r.h.Ops, o)
}

// Event adds an event that began at a time and ends now.
func (r *Recorder) Event(at time.Duration, text string) {
	end := r.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Events = append(r.h.Events, Event{at, end, text})
}

// History is what was recorded; the recorder is not used any more.
func (r *Recorder) History() *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &r.h
}

// head is the first line of a file.
type head struct {
	Format  string
	Seed    uint64
	Cluster offset.ClusterID
	Cut     bool
	Ops     int
	Events  []Event
}

const format = "tidemark history 1"

// Write writes a history into a file: gzipped JSON, a line for what it is, one
// for each operation, one for each entry of the log.
func (h *History) Write(path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := gzip.NewWriter(f)
	e := json.NewEncoder(z)
	err = e.Encode(head{format, h.Seed, h.Cluster, h.Cut, len(h.Ops), h.Events})
	for i := 0; i < len(h.Ops) && err == nil; i++ {
		err = e.Encode(h.Ops[i])
	}
	for i := 0; i < len(h.Log) && err == nil; i++ {
		err = e.Encode(h.Log[i])
	}
	return errors.Join(err, z.Close())
}

// Read reads what Write wrote.
func Read(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s is no history: %w", path, err)
	}
	d := json.NewDecoder(z)
	var first head
	if err := d.Decode(&first); err != nil || first.Format != format {
		return nil, fmt.Errorf("%s is no history (%q): %w", path, first.Format, err)
	}
	h := &History{Seed: first.Seed, Cluster: first.Cluster, Cut: first.Cut, Events: first.Events}
	for range first.Ops {
		o := new(Op)
		if err := d.Decode(o); err != nil {
			return nil, fmt.Errorf("%s ends early: %w", path, err)
		}
		h.Ops = append(h.Ops, o)
	}
	for {
		var e Entry
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return h, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s ends early: %w", path, err)
		}
		h.Log = append(h.Log, e)
	}
}
