package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve gives a new file its size, and the room for it where the file system
// can. It reads as zeros.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return f.Truncate(size)
	}
	return os.NewSyscallError("fallocate", err)
}
