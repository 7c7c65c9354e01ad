package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childEnv makes the test binary do one job on the folder in childDir instead of
// testing.
const (
	childEnv = "TIDEMARK_STORE_CHILD"
	childDir = "TIDEMARK_STORE_DIR"
)

// child is a process of our own that works on a store. It talks by lines.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startChild(t *testing.T, job, dir string, wrap ...string) *child {
	t.Helper()
	args := append(wrap, os.Args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+job, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("child ended: %v", c.out.Err())
	}
	return c.out.Text()
}

func (c *child) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// plantNoSync leaves syncs out from now on, in a build that can.
var plantNoSync func()

// runChild does the job and returns the exit code.
func runChild(job string) int {
	stdin := bufio.NewReader(os.Stdin)
	cfg := Config{Dir: os.Getenv(childDir)}
	switch job {
	case "hold": // has the folder until told
	case "append": // appends entry by entry, telling of each
	case "work": // appends, votes, compacts, cuts and snapshots until killed
	case "save": // writes one snapshot
	case "append-unsynced": // the same without a sync
		plantNoSync()
	case "append-large": // the same with 128 KiB each, until no file may grow further
	case "pause": // is inside a write until told
		cfg.HangAfter = time.Second
		cfg.Unsafe.Fault = func(op Op) error {
			if op != OpAppend {
				return nil
			}
			fmt.Println("writing")
			_, err := stdin.ReadString('\n')
			return err
		}
	}
	s, err := Open(cfg)
	if err != nil {
		fmt.Println(err)
		var f *Failure
		if errors.As(err, &f) {
			return f.Cause.ExitCode()
		}
		return 1
	}
	switch job {
	case "hold":
		fmt.Println("open")
		_, _ = stdin.ReadString('\n')
	case "append", "append-unsynced":
		for i := uint64(1); i <= 20; i++ {
			if err := s.Log().StoreLogs(entries(i, i, 1)); err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Printf("stored %d\n", i)
		}
	case "work":
		return work(s)
	case "save":
		if err := save(s, 7); err != nil {
			fmt.Println(err)
			return 1
		}
	case "append-large":
		return appendLarge(s)
	case "pause":
		fmt.Println(strings.ReplaceAll(fmt.Sprint(s.Log().StoreLogs(entries(1, 1, 1))), "\n", " "))
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// fileLimit is less than a segment has from its beginning.
func fileLimit() uint64 {
	if defaultLogStore == LogWAL {
		return uint64(defaultSegmentBytes) / 2
	}
	return 20 << 20
}

func appendLarge(s *Store) int {
	for i := uint64(1); i <= 1000; i++ {
		batch := entries(i, i, 1)
		batch[0].Data = make([]byte, 128<<10)
		if i == 20 {
			limit := unix.Rlimit{Cur: fileLimit(), Max: fileLimit()}
			if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		if err := s.Log().StoreLogs(batch); err != nil {
			fmt.Println(err)
			var f *Failure
			errors.As(err, &f)
			return f.Cause.ExitCode()
		}
		fmt.Printf("stored %d\n", i)
	}
	return 0
}

// work does all that raft does to a disk, over and over, and tells after each
// round what must be found: the last entry, the newest snapshot, the vote's term.
func work(s *Store) int {
	last, _ := s.Log().LastIndex()
	for {
		term := last + 2 // it grows with the log
		steps := []func() error{
			func() error { return s.Stable().SetUint64([]byte(keyCurrentTerm), term) },
			func() error { return s.Stable().SetUint64([]byte(keyLastVoteTerm), term) },
			func() error { return s.Stable().Set([]byte(keyLastVoteCand), fmt.Append(nil, "n", term)) },
			func() error { return s.Log().StoreLogs(entries(last+1, last+60, 1)) },
			func() error { return s.Log().DeleteRange(last+51, last+60) },
			func() error { return s.Log().StoreLogs(entries(last+51, last+60, 1)) },
			func() error { return save(s, last+55) },
			func() error {
				if last < 1000 {
					return nil
				}
				first, _ := s.Log().FirstIndex()
				return s.Log().DeleteRange(first, last-900)
			},
		}
		for _, step := range steps {
			if err := step(); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		last += 60
		fmt.Println(last, last-5, term)
	}
}

func save(s *Store, index uint64) error {
	sink, err := s.Snapshots().Create(1, index, 1, members, 1, nil)
	if err != nil {
		return err
	}
	if _, err := sink.Write(noise(3 * chunkBytes)); err != nil {
		return err
	}
	return sink.Close()
}
