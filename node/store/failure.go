package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/tidemark-mq/tidemark/offset"
)

// Op names a change of the disk, for errors and for Unsafe.Fault.
type Op string

// The changes of the disk.
const (
	OpOpen         Op = "open the store"
	OpAppend       Op = "append to the log"
	OpCompact      Op = "delete old log entries"
	OpTruncate     Op = "cut the end of the log off"
	OpSegment      Op = "begin or remove a segment of the log"
	OpTerm         Op = "store the term"
	OpVote         Op = "store the vote"
	OpSet          Op = "store a value"
	OpRead         Op = "read the log file"
	OpInstall      Op = "install a snapshot"
	OpSnapshot     Op = "write a snapshot"
	OpSnapshotSync Op = "sync a snapshot"
	OpSnapshotMove Op = "put a snapshot in place"
)

// Cause is the kind of failure that ended the use of a disk.
type Cause uint8

// The causes.
const (
	// CauseIO: the disk answered with an error, or the log file's structure is
	// damaged.
	CauseIO Cause = iota + 1
	// CauseDiskFull: no space, no quota, or a limit on file size.
	CauseDiskFull
	// CauseHang: a write did not come back in time.
	CauseHang
	// CauseConflict: the log contradicted an installed snapshot and was
	// deleted; the member is whole again once it has been restarted.
	CauseConflict
	// CauseDamaged: an entry, a term or a vote is not what was stored. It is
	// not used.
	CauseDamaged
)

var causes = [...]struct {
	name string
	code int
}{
	CauseIO:       {"I/O error", 74},
	CauseDiskFull: {"disk full", 75},
	CauseHang:     {"disk hangs", 76},
	CauseConflict: {"log contradicts the installed snapshot", 77},
	CauseDamaged:  {"damaged", 71},
}

// String names the cause as an operator would.
func (c Cause) String() string {
	if int(c) >= len(causes) || c == 0 {
		return fmt.Sprintf("cause %d", uint8(c))
	}
	return causes[c].name
}

// ExitCode is what a daemon that ends for this cause should exit with: 74 I/O
// error, 75 disk full, 76 hang, 77 conflict (start it again), 71 damaged. 1 for
// an unknown cause.
func (c Cause) ExitCode() int {
	if int(c) >= len(causes) || c == 0 {
		return 1
	}
	return causes[c].code
}

// Failure is the first error of a disk. From then on nothing more is written
// through its Store. The outcome of the write that failed is unknown: its bytes
// may or may not be found at the next start.
type Failure struct {
	Cause Cause
	// Op is what was being done.
	Op Op
	// Dir is the store's folder.
	Dir string
	// Err is what the disk, or the guard, said.
	Err error
}

// Error says what failed, where, and what to do next.
func (f *Failure) Error() string {
	return fmt.Sprintf("%s in %s: could not %s: %v; %s", f.Cause, f.Dir, f.Op, f.Err, f.advice())
}

// Unwrap returns what the disk said.
func (f *Failure) Unwrap() error { return f.Err }

func (f *Failure) advice() string {
	switch f.Cause {
	case CauseDiskFull:
		return "free space there, then start the member again"
	case CauseConflict:
		return "start the member again"
	case CauseDamaged:
		return rejoin
	default:
		return "check the disk; if it is sound start the member again, else remove the member from the cluster and add it anew on another disk"
	}
}

// causeOf sorts an error of the disk. The log file's library gives some of them
// as text only, so the text is looked at too.
func causeOf(err error) Cause {
	if errors.Is(err, offset.ErrDamaged) {
		return CauseDamaged
	}
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return CauseDiskFull
		}
	}
	return CauseIO
}
