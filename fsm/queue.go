package fsm

import (
	"context"
	"sync"
)

// AuditQueue stands between the FSM, which must not wait, and whoever writes
// audit lines to a disk. It starts no goroutine; the caller of Run owns one.
type AuditQueue struct {
	room int
	more chan struct{} // holds a token when there is something to write

	mu      sync.Mutex
	records []Record
	gap     *Record // what was dropped since the queue was full last
	dropped uint64
}

// NewAuditQueue returns a queue of at most n records, n at least 1.
func NewAuditQueue(n int) *AuditQueue {
	return &AuditQueue{room: max(n, 1), more: make(chan struct{}, 1)}
}

// Offer takes a record and never waits; it is a Config.Audit. What finds the
// queue full is dropped, and a record "gap" says so in its place.
func (q *AuditQueue) Offer(r Record) {
	q.mu.Lock()
	switch {
	case len(q.records) >= q.room:
		q.dropLocked(&r)
	default:
		q.closeGapLocked()
		q.records = append(q.records, r)
	}
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// Dropped counts the records that found the queue full.
func (q *AuditQueue) Dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// dropLocked notes a record that is lost.
func (q *AuditQueue) dropLocked(r *Record) {
	q.dropped++
	if q.gap == nil {
		q.gap = &Record{What: "gap", Since: r.Index - 1, Detail: "reason=\"the audit log could not keep up\""}
	}
	q.gap.Index, q.gap.Time = r.Index, r.Time
}

// closeGapLocked puts the gap in its place, before what comes next.
func (q *AuditQueue) closeGapLocked() {
	if q.gap != nil {
		q.records = append(q.records, *q.gap)
		q.gap = nil
	}
}

// Run hands the records to write, in their order, until ctx is done and the
// queue is empty. It is run once.
func (q *AuditQueue) Run(ctx context.Context, write func(Record)) {
	for {
		select {
		case <-q.more:
			q.drain(write)
		case <-ctx.Done():
			q.drain(write)
			return
		}
	}
}

func (q *AuditQueue) drain(write func(Record)) {
	for {
		q.mu.Lock()
		q.closeGapLocked()
		list := q.records
		q.records = nil
		q.mu.Unlock()
		if len(list) == 0 {
			return
		}
		for _, r := range list {
			write(r)
		}
	}
}
