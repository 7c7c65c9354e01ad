package client

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// notedStore is an application's own store: it notes what was persisted.
type notedStore struct {
	OffsetStore
	mu    sync.Mutex
	table map[offset.MessageQueue]int64
	calls []string
	err   error
}

func (n *notedStore) note(call string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, call)
	return n.err
}

func (n *notedStore) CloneOffsetTable(string) map[offset.MessageQueue]int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.table)
}

func (n *notedStore) Persist(_ context.Context, mq offset.MessageQueue) error {
	return n.note("one " + mq.Topic)
}

func (n *notedStore) PersistAll(_ context.Context, mqs []offset.MessageQueue) error {
	return n.note("all " + mqs[0].Topic)
}

func (n *notedStore) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := n.calls
	n.calls = nil
	slices.Sort(out)
	return out
}

func TestPersistLoopDrivesAnyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := offset.MessageQueue{Topic: "a"}, offset.MessageQueue{Topic: "b"}
		s := &notedStore{table: map[offset.MessageQueue]int64{a: 1, b: 2}, err: errors.New("no luck")}
		var log bytes.Buffer
		l, err := StartPersistLoop(s, PersistLoopConfig{First: 10 * time.Second, Interval: 5 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		want := func(after time.Duration, calls ...string) {
			t.Helper()
			time.Sleep(after) // the clock of the bubble
			synctest.Wait()
			if got := s.take(); !slices.Equal(got, calls) {
				t.Errorf("after %s more: %q, want %q", after, got, calls)
			}
		}
		want(10*time.Second-1, []string(nil)...)
		want(1, "one a", "one b")
		want(5*time.Second-1, []string(nil)...)
		want(1, "one a", "one b")
		l.Close(context.Background())
		want(time.Minute, []string(nil)...)
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("logged %q", log.String())
		}
	})
}

func TestPersistLoopWithQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &notedStore{}
		l, err := StartPersistLoop(s, PersistLoopConfig{Queues: func() []offset.MessageQueue { return []offset.MessageQueue{{Topic: "mine"}} }})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		l.Close(context.Background())
		if got := s.take(); !slices.Equal(got, []string{"all mine", "all mine"}) {
			t.Errorf("called %q", got)
		}
	})
}

// TestPersistLoopOfOurStores: it does what their own loops do, and is refused
// where they have one.
func TestPersistLoopOfOurStores(t *testing.T) {
	f := newShelf(t)
	synctest.Test(t, func(t *testing.T) {
		s, ctx := f.load(), context.Background()
		l, err := StartPersistLoop(s, PersistLoopConfig{})
		if err != nil {
			t.Fatal(err)
		}
		s.UpdateOffset(bk("b", 0), 7, true)
		time.Sleep(time.Second)
		synctest.Wait()
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
		l.Close(ctx)

		own := f.new(WithFirstPersist(1), WithPersistInterval(1))
		if _, err := StartPersistLoop(own, PersistLoopConfig{}); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
		_ = own.Close(ctx)
	})
}

func TestPersistLoopOfARemoteStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, "n1:7411")
		s := c.store()
		read(t, s, 1)
		s.UpdateOffset(mq(1), 7, true)
		l, err := StartPersistLoop(s, PersistLoopConfig{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		l.Close(context.Background())
		if got, err := s.ReadOffset(context.Background(), mq(1), ReadFromStore); got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
		own := c.store(WithPersistInterval(time.Hour))
		if _, err := StartPersistLoop(own, PersistLoopConfig{}); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("error is %v", err)
		}
	})
}

// TestNewStore: the model chooses, as in RocketMQ.
func TestNewStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		c := StoreConfig{
			Group: "billing", Client: newFakeCluster(t, "n1:7411").client(), ClientID: LocalClientID("10.0.0.1", "", ""),
			Options: []StoreOption{WithLocalDir(t.TempDir())},
		}
		remote, err := NewStore(Clustering, c)
		if s, ok := remote.(*RemoteStore); err != nil || !ok || s.group != "billing" {
			t.Errorf("clustering gives %T, %v", remote, err)
		}
		local, err := NewStore(Broadcasting, c)
		if s, ok := local.(*LocalFileStore); err != nil || !ok || !strings.HasSuffix(s.Path(), "10.0.0.1@DEFAULT/billing/offsets.json") {
			t.Errorf("broadcasting gives %T, %v", local, err)
		}
		for _, s := range []Store{remote, local} {
			if err := s.Close(ctx); err != nil {
				t.Error(err)
			}
		}
		for model, c := range map[MessageModel]StoreConfig{Clustering: {Group: "g"}, Broadcasting: {ClientID: "..", Group: "g"}, 2: c} {
			if s, err := NewStore(model, c); !errors.Is(err, offset.ErrInvalid) || s != nil {
				t.Errorf("model %d: %v, %v", model, s, err)
			}
		}
		if s, err := NewStore(Clustering, StoreConfig{Client: c.Client}); !errors.Is(err, offset.ErrInvalid) || s != nil {
			t.Errorf("%v, %v", s, err)
		}
	})
}
