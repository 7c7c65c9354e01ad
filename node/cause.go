package node

import (
	"errors"
	"syscall"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// Stopped is why a member that ran ended by itself.
type Stopped struct {
	// Code is the exit code of the daemon.
	Code int
	// Err says why, and the way out.
	Err error
}

// Error gives the reason.
func (s *Stopped) Error() string { return s.Err.Error() }

// Unwrap returns the reason.
func (s *Stopped) Unwrap() error { return s.Err }

// Exit codes of the daemon. Those of the disk are store.Cause's, 74 to 77.
const (
	// ExitFailed: anything without a code of its own.
	ExitFailed = 1
	// ExitConfig: a flag, file or option is wrong.
	ExitConfig = 3
	// ExitLatched: an entry could not be applied; the state can't be trusted.
	ExitLatched = 70
	// ExitDamaged: the data folder is damaged, a copy of one in use, or of
	// another cluster.
	ExitDamaged = 71
	// ExitRemoved: the member has been removed from its cluster.
	ExitRemoved = 72
	// ExitHang: applying an entry did not come to an end.
	ExitHang = 73
	// ExitLocked: another process uses the data folder.
	ExitLocked = 78
)

// ExitCode returns the exit code of the daemon for what Run returned: 0 for
// nil, else the code of the cause.
func ExitCode(err error) int {
	var stopped *Stopped
	var failure *store.Failure
	var locked *store.LockedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &stopped):
		return stopped.Code
	case errors.As(err, &failure):
		return failure.Cause.ExitCode()
	case errors.As(err, &locked):
		return ExitLocked
	case errors.Is(err, syscall.EIO):
		return store.CauseIO.ExitCode()
	case errors.Is(err, syscall.ENOSPC):
		return store.CauseDiskFull.ExitCode()
	case errors.Is(err, offset.ErrDamaged), errors.Is(err, offset.ErrForeignCluster), errors.Is(err, offset.ErrLevel):
		return ExitDamaged
	case errors.Is(err, offset.ErrInvalid):
		return ExitConfig
	}
	return ExitFailed
}

// errRestart ends one life of raft so that the next begins at once.
type errRestart struct{ why string }

func (e errRestart) Error() string { return "raft is started anew: " + e.why }
