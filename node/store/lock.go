package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockedError is returned where another process uses a store's folder.
type LockedError struct {
	// Dir is the folder.
	Dir string
	// PID is the process that has it, 0 if unknown.
	PID int
}

// Error names the folder and what to do.
func (e *LockedError) Error() string {
	who := "another process"
	if e.PID > 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("folder %s is in use by %s: stop that one first, or choose another data folder", e.Dir, who)
}

// lockDir takes the folder for this process alone. The kernel gives it free
// when the process ends, however that comes about.
func lockDir(dir string) (*os.File, error) {
	f, err := openLock(dir, os.O_RDWR|os.O_CREATE, true)
	if err != nil {
		return nil, err
	}
	// Only for the other's message; a lock without a name is as good.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

// lockForReading takes the folder together with other readers, while no member
// runs on it. It writes nothing.
func lockForReading(dir string) (*os.File, error) {
	f, err := openLock(dir, os.O_RDONLY, false)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no store of Tidemark: %w; name a member's raft folder", dir, err)
	}
	return f, err
}

func openLock(dir string, flag int, alone bool) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), flag, fileMode)
	if err != nil {
		return nil, fmt.Errorf("locking folder: %w", err)
	}
	busy, err := LockFile(f, alone)
	if err == nil {
		return f, nil
	}
	defer func() { _ = f.Close() }()
	if busy {
		return nil, &LockedError{Dir: dir, PID: holder(f)}
	}
	return nil, fmt.Errorf("locking folder %s: %w", dir, err)
}

// holder reads which process holds the lock: 0 unless it names one that lives, since
// a reader does not write itself in, and a killed one does not strike itself out.
func holder(f *os.File) int {
	buf := make([]byte, 32)
	n, _ := f.ReadAt(buf, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || pid <= 0 || !alive(pid) {
		return 0
	}
	return pid
}

// unlock gives the folder free.
func unlock(f *os.File) error {
	_ = f.Truncate(0)
	if err := f.Close(); err != nil {
		return fmt.Errorf("unlocking folder: %w", err)
	}
	return nil
}
