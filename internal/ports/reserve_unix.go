//go:build unix

package ports

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// reserve holds a port by a lock that ends with the process at the latest. The
// file stays: to delete it would let two hold locks of one name.
func reserve(port int) (release func(), ok bool) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("tidemark-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}
