// Package memnet is a network in memory, for clusters inside one process: its
// links can be cut one way, slowed, made to reset connections, and healed.
//
// A connection keeps what a TCP connection keeps: bytes arrive in order or not
// at all, a writer waits once 256 KiB are under way, what is sent over a cut
// link arrives once it heals, the other side learns of a close after the bytes. No
// goroutine is started; all waiting is done by the goroutines that read, write,
// accept or dial, so it works inside testing/synctest.
package memnet
