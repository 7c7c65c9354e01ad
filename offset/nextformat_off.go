//go:build !nextformat

package offset

// FormatLevel is the highest level of entries and snapshots that this build
// reads and writes. What a cluster uses is held in its state (DESIGN: Format level).
const FormatLevel = 1
