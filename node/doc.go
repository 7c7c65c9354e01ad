// Package node is one member of a cluster: raft and its stores, founding,
// proposing, reading, forwarding, membership, checkpoints, status. It is the
// one wiring, for the daemon and for clusters inside one process. DESIGN.md in
// this folder describes the way of a commit and of a read by goroutine.
//
// The package knows hashicorp/raft and closes its traps; nobody above it does.
// Authorization happens here and nowhere else: every method of the service
// takes the principal and asks the Policy first.
package node
