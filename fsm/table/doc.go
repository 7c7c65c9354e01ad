// Package table is the replicated state machine's table: every offset, and all
// else that a snapshot holds. It is pure: what it does follows from its content
// and from what it is called with, never from a clock, randomness, the order of
// a map or the environment, and it knows nothing of raft.
//
// One goroutine writes (the one that applies entries). It opens each entry with
// Begin, applies what is in it, and makes all that visible with Publish. Any
// goroutine reads, without a lock, from a Root, which never changes: loading one
// is taking a snapshot. The package starts no goroutine.
//
// Names, offsets and limits are checked (offset's Validate methods) before an
// entry is proposed; nothing that is given to the table makes it fail.
package table
