//go:build !tidemark_break

package store

// breaks holds the switches that a release binary does not have.
type breaks struct{}

func (breaks) noSync() bool { return false }
