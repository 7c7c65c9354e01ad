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
	gap     *Record // what was dropped since it was emptied last
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
	if len(q.records) < q.room {
		q.records = append(q.records, r)
	} else {
		q.dropLocked(&r)
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
	for list := q.takeAll(); len(list) > 0; list = q.takeAll() {
		for _, r := range list {
			write(r)
		}
	}
}

// takeAll empties the queue. What was dropped came after all that is in it.
func (q *AuditQueue) takeAll() []Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.records
	if q.gap != nil {
		list = append(list, *q.gap)
	}
	q.records, q.gap = nil, nil
	return list
}
