// Package fsm is the thin adapter between hashicorp/raft and the table: it
// decodes log entries, applies them to fsm/table, publishes one root per
// batch, and writes and reads snapshots.
//
// Raft calls Apply, ApplyBatch, Snapshot and Restore from one goroutine, its
// FSM goroutine; Persist runs on another, concurrently with Apply. Everything else may be
// called from any goroutine. The package starts no goroutine.
//
// If an entry cannot be decoded or applied, the FSM latches: see FSM.Failed.
package fsm
