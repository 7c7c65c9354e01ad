//go:build !linux

package store

import "os"

// reserve gives a new file its size. It reads as zeros.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }
