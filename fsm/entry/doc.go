// Package entry is the format of what Tidemark writes into the raft log: the
// requests of one or several callers, each with a fate of its own.
//
// It reads and writes bytes and nothing else: no clock, no randomness, no
// goroutines. docs/formats.md has the byte table. What never changes, at any
// level: the first two bytes, the third byte being the level, the numbers of
// kinds, and that a reader that meets a level above its own, or a kind or flag
// it does not know, gives up instead of guessing.
package entry
