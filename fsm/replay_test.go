package fsm

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// play applies logs in batches of random sizes.
func play(t testing.TB, f *FSM, logs []*raft.Log, r *rand.Rand) (answers []any) {
	t.Helper()
	for len(logs) > 0 {
		n := 1 + r.IntN(min(len(logs), 17))
		answers = append(answers, f.ApplyBatch(logs[:n])...)
		logs = logs[n:]
	}
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	return answers
}

// same fails unless two states hold the same, read by the rows as well as by
// their digests.
func same(t testing.TB, what string, got, want *table.Root) {
	t.Helper()
	if !reflect.DeepEqual(rows(got), rows(want)) {
		t.Fatalf("%s: the keys differ", what)
	}
	if g, w := text(got.Rest()), text(want.Rest()); g != w {
		t.Fatalf("%s: beside the keys there is\n%s\nwanted\n%s", what, g, w)
	}
	if got.Digest() != want.Digest() {
		t.Fatalf("%s: digest %s, wanted %s", what, got.Digest(), want.Digest())
	}
}

// text is all of r in words; nil and empty are the same.
func text(r *table.Rest) string {
	c := *r
	c.Import = nil
	return fmt.Sprintf("%+v %+v", c, r.Import)
}

func rows(r *table.Root) (list []offset.KeyedState) {
	r.Walk(&offset.List{What: offset.ListKeys}, func(k offset.KeyedState) bool { list = append(list, k); return true })
	return list
}

func sameAnswers(t testing.TB, what string, got, want []any) {
	t.Helper()
	for i := range want {
		g, gok := got[i].(*Answers)
		w, wok := want[i].(*Answers)
		if gok != wok || gok && (g.Index != w.Index || !reflect.DeepEqual(g.Requests, w.Requests) || g.Err != nil) {
			t.Fatalf("%s: entry %d is answered\n%+v\nlive it was\n%+v", what, i, got[i], want[i])
		}
	}
}

// snap returns the bytes of a snapshot taken as raft takes it.
func snap(t testing.TB, f *FSM) []byte {
	t.Helper()
	s, err := f.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	var sink memSink
	if err := s.Persist(&sink); err != nil {
		t.Fatal(err)
	}
	if !sink.closed || sink.canceled {
		t.Fatalf("the sink is closed %t, canceled %t", sink.closed, sink.canceled)
	}
	return sink.Bytes()
}

// memSink is a raft.SnapshotSink in memory.
type memSink struct {
	bytes.Buffer
	room             int // 0: unlimited
	closed, canceled bool
	largest          int
}

func (s *memSink) Write(b []byte) (int, error) {
	s.largest = max(s.largest, len(b))
	if s.room > 0 && s.Len()+len(b) > s.room {
		return 0, io.ErrShortWrite
	}
	return s.Buffer.Write(b)
}
func (s *memSink) ID() string    { return "memory" }
func (s *memSink) Close() error  { s.closed = true; return nil }
func (s *memSink) Cancel() error { s.canceled = true; return nil }

func restored(t testing.TB, data []byte) *FSM {
	t.Helper()
	f := New(Config{Cluster: testCluster})
	if err := f.Restore(io.NopCloser(bytes.NewReader(data))); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReplayEqualsLive(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, seed, 300)
			r := rand.New(rand.NewPCG(seed, 1))
			for range 2 {
				f := New(Config{Cluster: testCluster})
				sameAnswers(t, "replay", play(t, f, h.logs, r), h.answers)
				same(t, "replay", f.Root(), h.live.Root())
			}
		})
	}
}

func TestSnapshotAndTailEqualFullReplay(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, seed+100, 200)
			r := rand.New(rand.NewPCG(seed, 2))
			cut := r.IntN(len(h.logs) + 1)
			f := New(Config{Cluster: testCluster})
			play(t, f, h.logs[:cut], r)
			data := snap(t, f)
			g := restored(t, data)
			same(t, "restored", g.Root(), f.Root())
			if again := snap(t, g); !bytes.Equal(again, data) {
				t.Fatal("a snapshot of what was restored has other bytes")
			}
			sameAnswers(t, "tail", play(t, g, h.logs[cut:], r), h.answers[cut:])
			same(t, "snapshot and tail", g.Root(), h.live.Root())
		})
	}
}

// A history must do something, or the tests above show nothing.
func TestHistoriesDoAllThings(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(20) {
		h := newHistory(t, seed, 300)
		f := New(Config{Cluster: testCluster, Audit: func(r Record) {
			if r.Changed > 0 || r.What == "claim" && r.Code == offset.CodeOK {
				seen[r.What]++
			}
			seen[r.What+" any"]++
		}})
		play(t, f, h.logs, rand.New(rand.NewPCG(1, 1)))
		if f.Root().Import() != nil {
			seen["import under way"]++
		}
		if len(f.Root().Members()) > 0 {
			seen["members"]++
		}
	}
	for _, what := range []string{"set", "reset", "remove", "clone", "expire", "claim", "import", "announce any", "forget any", "level any", "import under way", "members"} {
		if seen[what] == 0 {
			t.Errorf("no history has %q: %v", what, seen)
		}
	}
}

func TestPersistBesideApply(t *testing.T) {
	h := newHistory(t, 5, 400)
	f := New(Config{Cluster: testCluster})
	play(t, f, h.logs[:200], rand.New(rand.NewPCG(1, 1)))
	want := f.Root().Digest()
	s, err := f.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var sink memSink
	done := make(chan error, 1)
	go func() { done <- s.Persist(&sink) }()
	play(t, f, h.logs[200:], rand.New(rand.NewPCG(2, 2)))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := restored(t, sink.Bytes()).Root().Digest(); got != want {
		t.Fatalf("the snapshot has digest %s, the state it was taken of %s", got, want)
	}
}

func TestFailedPersistCancelsTheSink(t *testing.T) {
	h := newHistory(t, 6, 100)
	s, err := h.live.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	sink := memSink{room: 200}
	if err := s.Persist(&sink); err == nil || !sink.canceled || sink.closed {
		t.Fatalf("a full disk: %v; canceled %t, closed %t", err, sink.canceled, sink.closed)
	}
}
