//go:build !nextformat

package offset

// FormatLevel is the highest level of entries and snapshots that this build
// reads and writes. What a cluster uses is held in its state (docs/formats.md#levels).
const FormatLevel = 1
