package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// looks runs top in a bubble whose time the caller's sleeps move, and gives
// what came out at the end, and the exit code.
func (f *fake) looks(t *testing.T, st streams, args ...string) (out string, code int, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	st.out, st.err = &o, &e
	code = run(t.Context(), append([]string{"top"}, args...), st, func([]string) (cluster, error) { return f, nil })
	return o.String(), code, e.String()
}

// frames decodes results that stand behind one another.
func frames(t *testing.T, out string) (list []topResult) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(out))
	for {
		var r topResult
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		list = append(list, r)
	}
}

func TestTopRatesAndAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.set(t, 100, key("busy", "t", "b", 0), key("busy", "t", "b", 1), key("idle", "t", "b", 0))
		writes := uint64(0)
		f.alter = func(_ string, st *offset.Status) {
			writes += 10
			st.Vitals = offset.Vitals{Clock: int64(1_700_000_000_000 + 1000*f.index), DiskWrites: writes, DiskTime: time.Duration(writes) * time.Millisecond, Commits: 5 * writes}
		}
		go func() {
			time.Sleep(time.Second)
			f.set(t, 140, key("busy", "t", "b", 0))
			f.set(t, 110, key("busy", "t", "b", 1))
			f.set(t, 7, key("fresh", "t", "b", 0))
			time.Sleep(4 * time.Second) // two looks see nothing of it
			f.set(t, 150, key("busy", "t", "b", 0))
		}()
		out, code, errs := f.looks(t, streams{}, "--count", "3", "-o", "json")
		if code != 0 || errs != "" {
			t.Fatalf("exit code %d, %s", code, errs)
		}
		r := frames(t, out)
		if len(r) != 3 {
			t.Fatalf("%d looks", len(r))
		}
		want := []string{"busy 1.0 25.0 0", "fresh 0.5 0.0 1", "idle 0.0 0.0 0"}
		for i, row := range r[0].Rows {
			if got := fmt.Sprintf("%s %.1f %.1f %d", row.Group, row.Moves, row.Messages, row.Unknown); got != want[i] {
				t.Errorf("row %d is %s, want %s", i, got, want[i])
			}
		}
		if m := r[0].Members[0]; r[0].Total != 3 || r[0].Seconds != 2 || m.State != "leader" || m.Writes <= 0 || m.Commits != 5*m.Writes || r[0].Commits != m.Commits || m.Mean != 1000 || m.Lag != -1 {
			t.Errorf("the first look is %+v", r[0])
		}
		if r[1].Rows[0].Moves != 0 || r[1].Rows[0].Group != "fresh" || r[1].Rows[0].AgeMS != 0 || r[1].Rows[2].AgeMS != 3000 {
			t.Errorf("at rest there is %+v", r[1].Rows)
		}
		if x := r[2].Rows[0]; x.Group != "busy" || x.Moves != 0.5 || x.Messages != 5 {
			t.Errorf("then there is %+v", x)
		}
	})
}

func TestTopOfOneGroupAndActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.set(t, 100, key("g", "t", "b", 0), key("g", "t", "b", 1), key("h", "t", "b", 0))
		go func() {
			time.Sleep(time.Second)
			f.set(t, 300, key("h", "t", "b", 0), key("g", "t", "b", 0))
			f.tidemark(t, "group", "set", "g", "t:1=5", "--broker", "b", "--execute")
		}()
		out, code, _ := f.looks(t, streams{}, "--group", "g", "--interval", "2s")
		if code != 0 || !strings.Contains(out, "TOPIC  BROKER  QUEUE  OFFSET  MOVES/S  MESSAGES/S  ACTS  AGE\nt      b       0      300     0.5      100         0") {
			t.Errorf("%d, and\n%s", code, out)
		}
		if !strings.Contains(out, "t      b       1      5       0.5      0           1") || strings.Contains(out, "h ") {
			t.Errorf("there is\n%s", out)
		}
	})
}

// TestTopIsBounded: of more offsets than a look reads, the first by name are
// shown and it is said; nothing is counted twice later.
func TestTopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		move := func(n int64) {
			for from := 0; from < 40_000; from += offset.MaxCommits {
				var list []offset.Commit
				for i := range offset.MaxCommits {
					list = append(list, offset.Commit{Key: key(fmt.Sprintf("g%05d", from+i), "t", "", 0), Offset: n})
				}
				if _, _, err := f.Commit(t.Context(), fakeID, list); err != nil {
					t.Error(err)
				}
			}
		}
		move(1)
		go func() {
			time.Sleep(time.Second)
			move(2)
		}()
		lists := 0
		f.listed = func() { lists++ }
		out, code, _ := f.looks(t, streams{}, "--count", "2", "--limit", "2", "-o", "json")
		r := frames(t, out)
		if code != 0 || len(r) != 2 || !r[0].Partial || r[1].Partial || r[0].Rows[0].Group != "g00000" || r[0].Rows[0].Moves != 0.5 || len(r[0].Rows) != 2 || r[1].Rows[0].Moves != 0 {
			t.Errorf("%d: %+v", code, r)
		}
		if lists > knownPages+movedPages+1 {
			t.Errorf("%d listings for two looks", lists)
		}
	})
}

func TestTopOnAScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.set(t, 1, key("g", "t", "", 0))
		ctx, cancel := context.WithCancel(t.Context())
		var out, errs bytes.Buffer
		go func() {
			time.Sleep(3 * time.Second)
			f.mu.Lock()
			f.down = offset.Errorf(offset.ErrNoLeader, "nobody leads") // a look without an answer is no end
			f.mu.Unlock()
			time.Sleep(2 * time.Second)
			f.mu.Lock()
			f.down = nil
			f.mu.Unlock()
			time.Sleep(2 * time.Second)
			cancel()
		}()
		code := run(ctx, []string{"top"}, streams{out: &out, err: &errs, screen: true}, func([]string) (cluster, error) { return f, nil })
		if code != 0 || strings.Count(out.String(), home) != 2 || strings.Count(errs.String(), "no answer: ") != 1 || !strings.Contains(errs.String(), "nobody leads") {
			t.Errorf("exit code %d, %d screens, errors %q", code, strings.Count(out.String(), home), &errs)
		}
	})
}

func TestTopUsage(t *testing.T) {
	f := newFake()
	for _, args := range [][]string{{"--interval", "100ms"}, {"--limit", "0"}, {"--count=-1"}, {"--group", "a\nb"}} {
		f.tidemark(t, append([]string{"top"}, args...)...).want(t, exitBadInput, "", "invalid request")
	}
	f.tidemark(t, "top", "--once", "--count", "2").want(t, exitUsage, "", "--once")
	f.down = offset.Errorf(offset.ErrNoLeader, "gone")
	f.tidemark(t, "top", "--once").want(t, exitNoLeader, "", "gone")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.down = nil
	f.tidemarkCtx(ctx, "top", "--once").want(t, exitFailed, "", "signal")
}
