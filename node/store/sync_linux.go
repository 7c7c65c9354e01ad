package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes a file's bytes durable, and as much of its attributes as is
// needed to read them.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err == unix.EINTR {
			continue
		}
		return os.NewSyscallError("fdatasync", err)
	}
}
