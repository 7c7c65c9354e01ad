package store

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

func TestFirstErrorIsLatched(t *testing.T) {
	for err, want := range map[error]Cause{
		syscall.ENOSPC: CauseDiskFull, syscall.EDQUOT: CauseDiskFull, syscall.EFBIG: CauseDiskFull, syscall.EIO: CauseIO,
	} {
		t.Run(err.Error(), func(t *testing.T) {
			var f fault
			s := open(t, Config{Dir: storeDir(t), Unsafe: Unsafe{Fault: f.hook}})
			mustAppend(t, s, entries(1, 5, 1))
			f.failNth(OpAppend, 1, &os.PathError{Op: "write", Path: "log.db", Err: err})
			first := s.Log().StoreLogs(entries(6, 6, 1))
			<-s.Failed()
			var failure *Failure
			if !errors.As(s.Err(), &failure) || failure.Cause != want || failure.Op != OpAppend {
				t.Fatalf("failed with %v", s.Err())
			}
			if !strings.Contains(first.Error(), s.cfg.Dir) || failure.Cause.ExitCode() < 74 {
				t.Errorf("says %q, exit code %d", first, failure.Cause.ExitCode())
			}
			// The disk is well again, and nothing is written all the same.
			for what, err := range map[string]error{
				"append":   s.Log().StoreLogs(entries(6, 6, 1)),
				"truncate": s.Log().DeleteRange(3, 5),
				"set":      s.Stable().Set([]byte("k"), []byte("v")),
				"vote":     s.Stable().SetUint64([]byte(keyLastVoteTerm), 2),
			} {
				if !errors.Is(err, failure) {
					t.Errorf("%s afterwards gave %v", what, err)
				}
			}
			if _, err := s.Snapshots().Create(1, 5, 1, members, 1, nil); !errors.Is(err, failure) {
				t.Errorf("a snapshot afterwards gave %v", err)
			}
			var e raft.Log
			if err := s.Log().GetLog(5, &e); err != nil {
				t.Errorf("reading afterwards gave %v", err)
			}
		})
	}
}

// TestWithoutGuardAFailedWriteIsForgotten shows what the guard is for.
func TestWithoutGuardAFailedWriteIsForgotten(t *testing.T) {
	var f fault
	s := open(t, Config{Dir: storeDir(t), Unsafe: Unsafe{Fault: f.hook, NoGuard: true}})
	f.failNth(OpAppend, 1, syscall.EIO)
	if err := s.Log().StoreLogs(entries(1, 1, 1)); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	if err := s.Log().StoreLogs(entries(1, 1, 1)); err != nil || s.Err() != nil {
		t.Errorf("the next write gave %v, the store says %v", err, s.Err())
	}
}

// TestHang runs on fake time: a write that gets ten ticks and one is given up,
// one that comes back before is not.
func TestHang(t *testing.T) {
	for _, c := range []struct {
		name    string
		takes   time.Duration
		noGuard bool
		hangs   bool
	}{
		{"comes back", 9900 * time.Millisecond, false, false},
		{"hangs", 12 * time.Second, false, true},
		{"hangs unnoticed without the guard", 12 * time.Second, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuard(Config{HangAfter: 10 * time.Second, Unsafe: Unsafe{NoGuard: c.noGuard}}.withDefaults())
				defer g.close()
				start := time.Now()
				var noticed time.Duration
				var wg sync.WaitGroup
				wg.Go(func() {
					select {
					case <-g.failed:
						noticed = time.Since(start)
					case <-time.After(time.Minute):
					}
				})
				err := g.write(OpVote, 1, func() error {
					time.Sleep(c.takes) // the disk's time
					return nil
				})
				wg.Wait()
				var f *Failure
				if c.hangs != errors.As(err, &f) || (c.hangs && (f.Cause != CauseHang || f.Op != OpVote)) {
					t.Fatalf("got %v", err)
				}
				if c.hangs && (noticed < 10*time.Second || noticed > 11*time.Second) {
					t.Errorf("noticed after %v", noticed)
				}
			})
		})
	}
}

// TestPauseIsNoHang stops a process inside a write for three times as long as a
// write may take, and lets it go on. The same span without the stop is a hang.
func TestPauseIsNoHang(t *testing.T) {
	const pause = 3 * time.Second // real: the kernel's stop knows no other time
	for _, stop := range []bool{true, false} {
		t.Run(map[bool]string{true: "stopped", false: "running"}[stop], func(t *testing.T) {
			t.Parallel()
			c := startChild(t, "pause", storeDir(t))
			if got := c.line(t); got != "writing" {
				t.Fatalf("child says %q", got)
			}
			if stop {
				must(t, c.cmd.Process.Signal(syscall.SIGSTOP))
			}
			<-time.After(pause)
			c.say(t, "go on")
			if stop {
				must(t, c.cmd.Process.Signal(syscall.SIGCONT))
			}
			got := c.line(t)
			if stop && got != "<nil>" {
				t.Errorf("a pause ended the store: %s", got)
			}
			if !stop && !strings.Contains(got, CauseHang.String()) {
				t.Errorf("a hang was not noticed: %s", got)
			}
		})
	}
}

func TestCloseDoesNotHangWithTheDisk(t *testing.T) {
	var f fault
	s := open(t, Config{Dir: storeDir(t), HangAfter: 50 * time.Millisecond, Unsafe: Unsafe{Fault: f.hook}})
	release := make(chan struct{})
	f.set(func(Op) error { <-release; return syscall.EIO })
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Log().StoreLogs(entries(1, 1, 1)) })
	<-s.Failed()
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "end the process") {
		t.Errorf("close says %v", err)
	}
	close(release)
	wg.Wait()
	must(t, errors.Join(s.closeLog(), unlock(s.lock))) // what the process's end does
}

// TestTermFailsWithoutAPanic: raft panics where a term can't be stored, so the
// failure comes back to it only when the node has ended, or had its time.
func TestTermFailsWithoutAPanic(t *testing.T) {
	var f fault
	dir := storeDir(t)
	s := open(t, Config{Dir: dir, Unsafe: Unsafe{Fault: f.hook}})
	must(t, s.Stable().SetUint64([]byte(keyCurrentTerm), 4))
	f.failNth(OpTerm, 1, syscall.ENOSPC)
	got := make(chan error)
	go func() { got <- s.Stable().SetUint64([]byte(keyCurrentTerm), 5) }()
	<-s.Failed()
	select {
	case err := <-got:
		t.Fatalf("came back before the store was closed: %v", err)
	default:
	}
	must(t, s.Close())
	if err := <-got; err != nil {
		t.Errorf("got %v", err)
	}
	if v, err := readVote(dir); err != nil || v.CurrentTerm != 4 {
		t.Errorf("on disk: %+v, %v", v, err)
	}

	s = open(t, Config{Dir: dir, HangAfter: 20 * time.Millisecond, Unsafe: Unsafe{Fault: f.hook}})
	f.failNth(OpTerm, 1, syscall.ENOSPC)
	if err := s.Stable().SetUint64([]byte(keyCurrentTerm), 5); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("after its time: %v", err)
	}
}

func TestLibraryPanicIsAFailure(t *testing.T) {
	g := newGuard(Config{}.withDefaults())
	defer g.close()
	err := g.write(OpAppend, 1, func() error { panic("page 7: invalid page type") })
	if err == nil || !strings.Contains(err.Error(), "page 7") || !g.stuck() {
		t.Errorf("got %v", err)
	}
}

// TestUnreadableLogFileIsAFailure takes the entries away under the open store: the
// file's end under the mapping, so that reading faults as it does on a bad sector.
func TestUnreadableLogFileIsAFailure(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir, CacheEntries: 1})
	for i := uint64(1); i <= 20; i++ {
		must(t, s.Log().StoreLogs([]*raft.Log{{Index: i, Term: 1, Data: noise(64 << 10)}}))
	}
	if defaultLogStore == LogWAL {
		for _, path := range segmentFiles(t, dir) {
			must(t, os.Truncate(path, 0))
		}
	} else {
		must(t, os.Truncate(logPath(dir), 2*4096))
	}
	var e raft.Log
	err := s.Log().GetLog(3, &e)
	var failure *Failure
	if !errors.As(err, &failure) || failure.Cause != CauseIO || failure.Op != OpRead {
		t.Errorf("got %v", err)
	}
	<-s.Failed()
}

func TestWritesAreObserved(t *testing.T) {
	var count, bytes int
	s := open(t, Config{Dir: storeDir(t), OnWrite: func(d time.Duration, n int) {
		if d <= 0 {
			t.Errorf("a write took %v", d)
		}
		count++
		bytes += n
	}})
	mustAppend(t, s, []*raft.Log{{Index: 1, Term: 1, Data: make([]byte, 1000)}})
	must(t, s.Stable().Set([]byte("k"), []byte("value")))
	if count != 2 || bytes != 1000+sumBytes+s.log.size(&raft.Log{})+5 {
		t.Errorf("observed %d writes, %d bytes", count, bytes)
	}
}

func TestCausesNameThemselves(t *testing.T) {
	seen := map[int]bool{}
	for c := CauseIO; c <= CauseDamaged; c++ {
		if c.ExitCode() == 1 || seen[c.ExitCode()] || strings.HasPrefix(c.String(), "cause") {
			t.Errorf("%d is %q, exit code %d", uint8(c), c, c.ExitCode())
		}
		seen[c.ExitCode()] = true
	}
	if Cause(0).ExitCode() != 1 || Cause(99).String() != "cause 99" {
		t.Error("unknown causes")
	}
}
