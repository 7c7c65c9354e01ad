package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of so many bytes for the test.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("a small file system needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// fill writes until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, f.Close())
}

// TestFullDisk goes the whole way: the log meets the end of the disk, the member
// ends with the cause, does not start while the disk is full, loses nothing, and
// starts once there is room.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, "24m")
	dir := filepath.Join(disk, "raft")
	cfg := Config{Dir: dir}
	s := open(t, cfg)
	stored := uint64(0)
	data := make([]byte, 128<<10)
	var err error
	for err == nil && stored < 1000 {
		batch := entries(stored+1, stored+1, 1)
		batch[0].Data = data
		if err = s.Log().StoreLogs(batch); err == nil {
			stored++
		}
	}
	var failure *Failure
	if !errors.As(err, &failure) || failure.Cause != CauseDiskFull || !strings.Contains(err.Error(), "free space") {
		t.Fatalf("after %d entries: %v", stored, err)
	}
	must(t, s.Close())

	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	before := sizes(t, dir)
	_, err = Open(cfg)
	if !errors.As(err, &failure) || failure.Cause != CauseDiskFull {
		t.Fatalf("on the full disk: %v", err)
	}
	// Unchecked it may find room inside the log file, or not; nothing is lost.
	if s, err := Open(Config{Dir: dir, MinFree: -1}); err == nil {
		must(t, s.Close())
	} else if !errors.As(err, &failure) || failure.Cause != CauseDiskFull {
		t.Errorf("on the full disk, unchecked: %v", err)
	}
	for name, was := range before {
		if is := sizes(t, dir)[name]; is < was {
			t.Errorf("%s had %d bytes and has %d", name, was, is)
		}
	}

	must(t, os.Remove(ballast))
	must(t, unix.Mount("", disk, "", unix.MS_REMOUNT, "size=48m"))
	s = open(t, cfg)
	if _, last := s.log.ledger.bounds(); last < stored {
		t.Errorf("%d entries were stored, and %d are there", stored, last)
	}
	mustAppend(t, s, entries(stored+2, stored+2, 1))
	must(t, s.Close())
}

// TestFullDiskDuringSnapshot: two fail, nothing is left, the third succeeds.
func TestFullDiskDuringSnapshot(t *testing.T) {
	disk := smallDisk(t, "16m")
	s := open(t, Config{Dir: filepath.Join(disk, "raft"), Pace: -1})
	defer func() { must(t, s.Close()) }()
	mustAppend(t, s, entries(1, 10, 1))
	free, _, err := FreeSpace(disk)
	must(t, err)
	for range 2 {
		sink, err := s.Snapshots().Create(1, 10, 1, members, 1, nil)
		must(t, err)
		for err == nil {
			_, err = sink.Write(make([]byte, chunkBytes))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		must(t, sink.Cancel())
		if now, _, err := FreeSpace(disk); err != nil || now != free {
			t.Errorf("%d bytes were free, and are %d, %v", free, now, err)
		}
	}
	snapshot(t, s, 10, 1, noise(1<<20))
	mustAppend(t, s, entries(11, 12, 1))
}

// TestFileSizeLimit needs no root: a limit on its files makes another process's
// log fail to grow.
func TestFileSizeLimit(t *testing.T) {
	dir := storeDir(t)
	c := startChild(t, "append-large", dir)
	stored := 0
	for c.out.Scan() && strings.HasPrefix(c.out.Text(), "stored") {
		stored++
	}
	err := c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != CauseDiskFull.ExitCode() {
		t.Fatalf("after %d entries exit code %d (%v): %s", stored, got, err, c.out.Text())
	}
	s := open(t, Config{Dir: dir})
	if _, last := s.log.ledger.bounds(); last < uint64(stored) || stored == 0 {
		t.Errorf("%d entries were stored, and %d are there", stored, last)
	}
}

func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == lockName {
			return err
		}
		info, err := d.Info()
		found[path] = info.Size()
		return err
	})
	must(t, err)
	return found
}
