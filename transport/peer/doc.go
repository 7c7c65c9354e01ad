// Package peer is the raft port of a member: connections that raft uses, and
// the calls that members make on one another.
//
// Each connection begins with a handshake, before anything else is decoded:
// cluster, own id, the id meant to be reached, what the connection is for. A
// mismatch is refused with a reason that people can read. DESIGN.md in this
// folder gives its bytes and the invariants.
//
// The package knows nothing of raft: package node makes raft's stream layer of
// AcceptRaft and DialRaft, and answers calls as a Handler.
package peer
