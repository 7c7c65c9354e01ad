package node

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestExitCodes(t *testing.T) {
	cases := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), ExitFailed},
		{&Stopped{ExitRemoved, errors.New("removed")}, ExitRemoved},
		{fmt.Errorf("running: %w", &Stopped{ExitLatched, errors.New("latched")}), ExitLatched},
		{&store.Failure{Cause: store.CauseDiskFull, Err: errors.New("full")}, 75},
		{errors.Join(&store.Failure{Cause: store.CauseHang, Err: errors.New("hangs")}, errors.New("closing")), 76},
		{&store.LockedError{Dir: "d"}, ExitLocked},
		{fmt.Errorf("reading the data folder: %w", &fs.PathError{Op: "open", Path: "d", Err: syscall.EIO}), 74},
		{fmt.Errorf("writing the identity: %w", &fs.PathError{Op: "write", Path: "d", Err: syscall.ENOSPC}), 75},
		{offset.Errorf(offset.ErrDamaged, "x"), ExitDamaged},
		{offset.Errorf(offset.ErrForeignCluster, "x"), ExitDamaged},
		{offset.Errorf(offset.ErrInvalid, "x"), ExitConfig},
	}
	for _, c := range cases {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("ExitCode(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestWhatANewLifeOfRaftCures(t *testing.T) {
	if !again(errRestart{"a transfer"}) || !again(errors.Join(&store.Failure{Cause: store.CauseConflict, Err: errors.New("x")})) {
		t.Error("a restart, or a log that contradicts a snapshot, is not started anew")
	}
	if again(&store.Failure{Cause: store.CauseIO, Err: errors.New("x")}) || again(errors.New("x")) {
		t.Error("started anew over a disk that failed")
	}
}
