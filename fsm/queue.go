package fsm

import "context"

// AuditQueue stands between the FSM, which must not wait, and whoever writes
// audit lines to a disk.
type AuditQueue struct{}

// NewAuditQueue returns a queue of at most n records.
func NewAuditQueue(n int) *AuditQueue { return &AuditQueue{} }

// Offer takes a record and never waits; it is a Config.Audit. What finds the
// queue full is dropped, and a record "gap" says so when there is room again.
func (q *AuditQueue) Offer(r Record) {}

// Run hands the records to write, in their order, until ctx is done and the
// queue is empty. It is run once.
func (q *AuditQueue) Run(ctx context.Context, write func(Record)) {}
