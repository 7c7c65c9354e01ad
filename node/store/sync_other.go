//go:build !linux

package store

import "os"

// syncData makes a file's bytes durable.
func syncData(f *os.File) error { return f.Sync() }
