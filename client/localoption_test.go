package client

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestLocalFolder: the option, the variable, the home folder, in this order.
func TestLocalFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, c := range []struct{ option, variable, want string }{
		{"/o", "/v", "/o"}, {"", "/v", "/v"}, {"", "", filepath.Join(home, ".rocketmq_offsets")},
	} {
		t.Setenv(LocalDirVariable, c.variable)
		s, err := NewLocalFileStore("10.0.0.1@DEFAULT@u", "%RETRY%g", WithLocalDir(c.option), WithPersistInterval(0), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(c.want, "10.0.0.1@DEFAULT@u", "%RETRY%g", "offsets.json"); s.Path() != want {
			t.Errorf("%+v: the path is %s", c, s.Path())
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	if _, err := NewLocalFileStore("c", "g"); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "WithLocalDir") {
		t.Errorf("error is %v", err)
	}
	if LocalDirVariable != "rocketmq.client.localOffsetStoreDir" {
		t.Error("the variable is not RocketMQ's")
	}
}

// TestLocalNamesStayInTheFolder: a name that came from outside is one folder, or refused.
func TestLocalNamesStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", `a\b`, `..\x`, "a\x00b", "a\nb", "\xff", strings.Repeat("x", 256)} {
		for _, names := range [][2]string{{name, "g"}, {"c", name}} {
			s, err := NewLocalFileStore(names[0], names[1], WithLocalDir(dir))
			if !errors.Is(err, offset.ErrInvalid) || s != nil {
				t.Errorf("%q: %v", names, err)
			}
		}
	}
	for _, name := range []string{"...", "..a", "%2e%2e", "a b", "组一", "g[1]*?", "-", "~", strings.Repeat("x", 255)} {
		s, err := NewLocalFileStore(name, name, WithLocalDir(dir), WithPersistInterval(0))
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		s.UpdateOffset(bk("b", 0), 7, true)
		persistAll(t, s)
		if _, err := os.Stat(filepath.Join(dir, name, name, "offsets.json")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestLocalClientID(t *testing.T) {
	for want, got := range map[string]string{
		"10.0.0.1@DEFAULT": LocalClientID("10.0.0.1", "", ""), "10.0.0.1@a": LocalClientID("10.0.0.1", "a", ""), "10.0.0.1@a@u": LocalClientID("10.0.0.1", "a", "u"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestLocalLoop: RocketMQ's pauses; a run that fails is logged once, and the
// next one tries again.
func TestLocalLoop(t *testing.T) {
	f := newShelf(t)
	synctest.Test(t, func(t *testing.T) {
		s := f.load(WithFirstPersist(RocketMQFirstPersist), WithPersistInterval(RocketMQPersistInterval))
		pass := func(d time.Duration) { time.Sleep(d); synctest.Wait() } // the clock of the bubble
		s.UpdateOffset(bk("b", 0), 7, true)
		pass(10*time.Second - time.Millisecond)
		f.holds("offsets.json", nil)
		pass(time.Millisecond)
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
		s.UpdateOffset(bk("b", 0), 8, true)
		pass(5*time.Second - time.Millisecond)
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
		pass(time.Millisecond)
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 8})
		for _, name := range []string{"offsets.json", "offsets.json.bak"} {
			f.write(name, []byte("{"))
		}
		s.UpdateOffset(bk("b", 0), 9, true)
		pass(15 * time.Second)
		if n := strings.Count(f.logged(), "local offsets are not persisted"); n != 1 || s.Stats().Failed != 3 {
			t.Errorf("logged %d times, %+v", n, s.Stats())
		}
		for _, name := range []string{"offsets.json", "offsets.json.bak"} {
			if err := os.Remove(f.path(name)); err != nil {
				t.Error(err)
			}
		}
		pass(5 * time.Second)
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 9})
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestLocalConcurrentUse: updates, all reads, persists, removals and copies at
// once; in the end the file has the last update of each queue.
func TestLocalConcurrentUse(t *testing.T) {
	f := newShelf(t)
	s, ctx := f.load(), context.Background()
	const queues, updates, removed = 8, 400, 99
	var all []offset.MessageQueue
	for i := range int32(queues) {
		all = append(all, bk("b", i))
	}
	var wg, others sync.WaitGroup
	for _, mq := range all {
		wg.Go(func() {
			for n := range int64(updates) {
				s.UpdateOffset(mq, n, true)
			}
		})
	}
	stop := make(chan struct{})
	for _, do := range []func(){
		func() { _, _ = s.ReadOffset(ctx, all[0], ReadFromMemory) },
		func() { _, _ = s.ReadOffset(ctx, all[1], ReadFromStore) },
		func() { _, _ = s.ReadOffset(ctx, all[2], MemoryFirstThenStore) },
		func() {
			if err := s.PersistAll(ctx, all); err != nil {
				t.Error(err)
			}
		},
		func() { s.UpdateOffset(bk("b", removed), 1, true); s.RemoveOffset(bk("b", removed)) },
		func() { _ = s.CloneOffsetTable("moss"); _ = s.Stats() },
	} {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					do()
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	others.Wait()
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	want := make(map[offset.MessageQueue]int64)
	for _, mq := range all {
		want[mq] = updates - 1
	}
	if got := f.load().CloneOffsetTable(""); !maps.Equal(got, want) {
		t.Errorf("persisted are %v", got)
	}
}
