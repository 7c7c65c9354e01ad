// Package memnet is a network in memory, for clusters inside one process: its
// links can be cut one way, slowed, made to reset connections, and healed.
//
// A connection keeps what a TCP connection keeps: bytes arrive in order or not
// at all, a writer waits once 256 KiB are under way, what is sent over a cut
// link arrives once it heals, closing is told to the other side behind the
// bytes. No goroutine is started; all waiting is done by who reads, writes,
// accepts or dials, so it works inside testing/synctest.
package memnet
