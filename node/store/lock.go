package store

import "fmt"

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
