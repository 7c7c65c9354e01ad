// Package store keeps everything of raft's that lies on a member's disk: the
// log, the term and the vote, and the snapshots, in one folder that one process
// at a time may use.
//
// It closes the traps of the library that lie on the disk: a vote becomes
// durable in one write, only prefixes of the log are deleted in slices, the
// first failed or hanging write ends the use of the disk, a full disk keeps no
// half snapshot, and a missing or damaged file is an error with a way out,
// never an empty start. DESIGN.md in this folder says how.
//
// A Store owns one goroutine, which watches writes; Close waits for it.
package store
