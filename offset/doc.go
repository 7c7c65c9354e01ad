// Package offset holds the words that every other package of Tidemark speaks:
// keys, positions, commits, acts, read levels, limits and errors.
//
// It is a leaf: it imports nothing of ours, does no I/O, reads no clock and
// starts no goroutine. All types are plain values; what is shared between
// goroutines says so.
package offset
