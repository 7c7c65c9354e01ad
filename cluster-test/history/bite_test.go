package history

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/cluster-test/history/verify"
	"github.com/tidemark-mq/tidemark/cluster-test/history/workload"
	"github.com/tidemark-mq/tidemark/offset"
)

// good makes a history of a cluster that nothing was done to, checks it, and
// gives the file that it was written to.
func good(t *testing.T) string {
	t.Helper()
	c := Config{}.withDefaults()
	x := &round{config: c, arena: arena.InProcess(t, 3), rec: record.New(1)}
	x.load = workload.Start(x.arena, x.rec, workload.Config{Seed: 1, Clients: 6, Generation: 400, Patience: patience})
	for end := time.Now().Add(healTime); x.load.Answered() < 2500 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // clients are at work
	}
	x.load.Stop()
	h, err := x.close()
	if err == nil {
		_, err = verify.All(h)
	}
	for _, what := range missing(h) {
		t.Errorf("no request of this kind was done: %s", what)
	}
	path := filepath.Join(t.TempDir(), "history.json.gz")
	if err := errors.Join(err, h.Write(path)); err != nil {
		t.Fatal(err)
	}
	return path
}

// missing lists kinds of request that were never done in a history.
func missing(h *record.History) (list []string) {
	steps := func(m offset.ImportMode, s offset.ImportStep) func(*record.Op) bool {
		return func(o *record.Op) bool {
			return o.Act != nil && o.Act.Import != nil && o.Act.Import.Mode == m && o.Act.Import.Step == s && o.Result.Code == offset.CodeOK
		}
	}
	act := func(is func(*offset.Act) bool) func(*record.Op) bool {
		return func(o *record.Op) bool { return o.Act != nil && is(o.Act) && o.Result.Code == offset.CodeOK }
	}
	for name, is := range map[string]func(*record.Op) bool{
		"commit":        func(o *record.Op) bool { return o.Commits != nil && o.Verdicts[0].Code == offset.CodeOK },
		"fenced commit": func(o *record.Op) bool { return o.Commits != nil && o.Verdicts[0].Code == offset.CodeFenced },
		"atomic commit": func(o *record.Op) bool { return o.Commits != nil && o.Commits.Atomic },
		"set":           func(o *record.Op) bool { return o.Set != nil && o.Verdicts[0].Code == offset.CodeOK },
		"reset":         act(func(a *offset.Act) bool { return a.Reset != nil }),
		"remove":        act(func(a *offset.Act) bool { return a.Remove != nil }),
		"clone":         act(func(a *offset.Act) bool { return a.Clone != nil }),
		"expire":        act(func(a *offset.Act) bool { return a.Expire != nil }),
		"claim":         act(func(a *offset.Act) bool { return a.Take != nil }),
		"merge":         steps(offset.ImportMerge, offset.ImportChunk),
		"replace":       steps(offset.ImportReplace, offset.ImportSwap),
		"at least":      func(o *record.Op) bool { return o.Fetch != nil && o.Fetch.At.Level == offset.AtLeast },
		"local":         func(o *record.Op) bool { return o.Fetch != nil && o.Fetch.At.Level == offset.Local },
	} {
		if !slices.ContainsFunc(h.Ops, func(o *record.Op) bool { return o.Answered() && is(o) }) {
			list = append(list, name)
		}
	}
	return list
}

// find gives the last operation that is so.
func find(t *testing.T, h *record.History, what string, is func(*record.Op) bool) *record.Op {
	t.Helper()
	for _, o := range slices.Backward(h.Ops) {
		if is(o) {
			return o
		}
	}
	t.Fatalf("the history has no %s", what)
	return nil
}

func read(o *record.Op) bool {
	return o.Answered() && o.Fetch != nil && o.Fetch.At.Level == offset.Linearizable && o.States[0].Exists && o.States[0].Position.Offset > 0
}

func done(o *record.Op) bool {
	return o.Answered() && o.Commits != nil && o.Verdicts[0].Code == offset.CodeOK
}

func localRead(o *record.Op) bool {
	return o.Answered() && o.Fetch != nil && o.Fetch.At.Level == offset.Local && o.States[0].Exists
}

// TestChecksBite makes one thing of a good history wrong at a time: the check that
// is there for it finds it, also after the history was written and read again.
func TestChecksBite(t *testing.T) {
	path := good(t)
	for _, x := range []struct {
		name  string
		check func(*record.History, *verify.Counts) error
		wrong func(*testing.T, *record.History)
	}{
		{"no order explains a read of what nobody sent", verify.Linear, func(t *testing.T, h *record.History) {
			find(t, h, "read", read).States[0].Position.Offset = 7 << 40 // which nobody sent
		}},
		{"the log does not give a read of what nobody sent", verify.Replay, func(t *testing.T, h *record.History) {
			find(t, h, "read", read).States[0].Position.Offset = 7 << 40 // which nobody sent
		}},
		{"a read under an older epoch goes back", verify.Plain, func(t *testing.T, h *record.History) {
			o := find(t, h, "read of a key that was read before", func(o *record.Op) bool {
				return read(o) && slices.ContainsFunc(h.Ops, func(p *record.Op) bool {
					return read(p) && p.Return < o.Call && p.Fetch.Keys[0] == o.Fetch.Keys[0]
				})
			})
			o.States[0] = offset.KeyState{}
		}},
		{"a local read of what never was", verify.Replay, func(t *testing.T, h *record.History) {
			find(t, h, "local read", localRead).States[0].Position.Offset++
		}},
		{"a node that answers locally from an older state", verify.Plain, func(t *testing.T, h *record.History) {
			late := find(t, h, "local read", localRead)
			first := h.Ops[slices.IndexFunc(h.Ops, func(o *record.Op) bool { return localRead(o) && o.Node == late.Node })]
			first.Call, first.Return = late.Return+1, late.Return+2
		}},
		{"a commit that was acknowledged is not in the log", verify.Replay, func(t *testing.T, h *record.History) {
			at := h.Ops[slices.IndexFunc(h.Ops, done)].Meta.Index
			h.Log = slices.DeleteFunc(h.Log, func(e record.Entry) bool { return e.Index == at })
		}},
		{"a request that is in the log and was refused", verify.Replay, func(t *testing.T, h *record.History) {
			o := find(t, h, "commit", done)
			o.Code, o.Verdicts = offset.CodeNotLeader, nil
		}},
		{"a request that nobody sent", verify.Replay, func(t *testing.T, h *record.History) {
			lost := find(t, h, "commit", done)
			id := lost.Commits
			h.Ops = slices.DeleteFunc(h.Ops, func(o *record.Op) bool {
				return o.Commits != nil && o.Commits.Topics[0].Queues[0].Offset == id.Topics[0].Queues[0].Offset
			})
		}},
		{"a stale read at an older index", verify.Replay, func(t *testing.T, h *record.History) {
			first := h.Ops[slices.IndexFunc(h.Ops, read)]
			late := find(t, h, "read", read)
			first.Call, first.Return = late.Return+1, late.Return+2
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			h, err := record.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.check(h, &verify.Counts{}); err != nil {
				t.Fatalf("before anything is wrong: %v", err)
			}
			x.wrong(t, h)
			v := (*verify.Violation)(nil)
			if err := x.check(h, &verify.Counts{}); !errors.As(err, &v) {
				t.Fatalf("found: %v", err)
			}
			t.Log(v)
			if len(v.Keys) == 0 {
				return
			}
			page := filepath.Join(t.TempDir(), "page.html")
			if err := verify.Draw(h, v, page); err != nil {
				t.Fatal(err)
			}
			if s, err := os.Stat(page); err != nil || s.Size() < 1000 {
				t.Errorf("the page: %v, %v", s, err)
			}
		})
	}
}
