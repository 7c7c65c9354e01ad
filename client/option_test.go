package client

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestPausesDoubleAndAreDrawnFromTheUpperHalf(t *testing.T) {
	for n, most := range map[int]time.Duration{1: 10, 2: 20, 3: 40, 6: 320, 7: 500, 8: 500, 1000: 500} {
		most *= time.Millisecond
		low, high := most, time.Duration(0)
		for range 2000 {
			d := jittered(n)
			low, high = min(low, d), max(high, d)
		}
		if low < most/2 || high > most || high-low < most/4 {
			t.Errorf("try %d: %s to %s; want %s to %s", n, low, high, most/2, most)
		}
	}
}

func TestHooksAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		var mu sync.Mutex
		var told []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, s)
		}
		c := f.clientOf([]string{"a:1"}, WithHooks(Hooks{
			Retried:       func(op string, n int, err error) { note("retry " + op) },
			Connected:     func(addr string) { note("connected " + addr) },
			Disconnected:  func(addr string, cause error) { note("disconnected " + addr) },
			LeaderChanged: func(from, to string) { note("leader " + from + " " + to) },
		}), nil)
		f.lead("b:1")
		for i := range int64(2) {
			if err := commitOne(within(t, time.Second), c, key(0), i, 0); err != nil {
				t.Fatal(err)
			}
		}
		f.lead("a:1")
		f.kill("b:1")
		synctest.Wait()
		if err := commitOne(within(t, time.Second), c, key(0), 3, 0); err != nil {
			t.Fatal(err)
		}
		want := []string{"connected a:1", "leader  b:1", "disconnected a:1", "connected b:1", "disconnected b:1", "connected a:1", "leader b:1 a:1"}
		if !slices.Equal(told, want) {
			t.Fatalf("told %q;\nwant %q", told, want)
		}
	})
}

// handClock is moved by the test.
type handClock struct {
	mu    sync.Mutex
	waits []chan time.Time
}

func (*handClock) Now() time.Time { return time.Unix(0, 0) }

func (h *handClock) After(time.Duration) <-chan time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan time.Time, 1)
	h.waits = append(h.waits, ch)
	return ch
}

// fire ends everything that waits.
func (h *handClock) fire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ch := range h.waits {
		ch <- time.Unix(0, 0)
	}
	h.waits = nil
}

func TestLoopFollowsTheClockThatWasGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		clock := &handClock{}
		s := f.storeOf(f.client(WithClock(clock)), WithPersistInterval(time.Second))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 5, true)
		time.Sleep(time.Hour)
		wantAt(t, f, 0, -1)
		synctest.Wait()
		clock.fire()
		synctest.Wait()
		wantAt(t, f, 0, 5)
	})
}

func TestNamesAreDataInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var out bytes.Buffer
		s, err := NewRemoteStore(f.client(WithLogger(slog.New(slog.NewTextHandler(&out, nil)))), "g 1\"=x", WithPersistInterval(0))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(within(t, time.Second))
		q := offset.MessageQueue{Topic: "line one level=ERROR"}
		k := offset.Key{Group: "g 1\"=x", MessageQueue: q}
		if _, err := s.ReadOffset(within(t, time.Second), q, ReadFromStore); err == nil {
			t.Fatal("an offset from nowhere")
		}
		f.state.reset(k, 3)
		s.UpdateOffset(q, 9, true)
		if err := s.Persist(within(t, time.Second), q); err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("error %q", err)
		}
		if text := out.String(); strings.Contains(text, " level=ERROR\n") || !strings.Contains(text, "frozen") {
			t.Fatalf("log %q", text)
		}
	})
}

func TestNoSettingIsTheDefault(t *testing.T) {
	want, got := settle(nil), settle([]Option{
		nil, WithDialer(nil), WithDialTimeout(0), WithAttemptTimeout(-1), WithBackoff(nil), WithClock(nil),
		WithInFlight(0), WithSilence(0), WithLogger(nil), WithMetrics(nil),
	})
	if got.dial == nil || got.backoff == nil || got.logger == nil {
		t.Fatalf("%+v", got)
	}
	for _, s := range []*settings{&want, &got} { // what cannot be compared
		s.dial, s.backoff, s.logger, s.hooks = nil, nil, nil, Hooks{}
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("%+v;\nwant %+v", got, want)
	}
	s := settleStore(settings{}, []StoreOption{nil, WithPersistTimeout(0), WithStoreClock(nil), WithStoreLogger(nil), WithFirstPersist(0)})
	if s.timeout != 5*time.Second || s.interval != time.Second || s.first != time.Second || s.clock == nil || s.logger == nil {
		t.Errorf("%+v", s)
	}
}

// TestNoSettingOfAQueueIsTheDefault: of a ProcessQueue likewise.
func TestNoSettingOfAQueueIsTheDefault(t *testing.T) {
	want := NewProcessQueue[int](nil).set
	got := NewProcessQueue[int](WithMaxSpan(0), WithMaxMessages(-1), WithCapacity(0), WithConsumeTimeout(0), WithPullTimeout(-1), WithQueueClock(nil), WithCommitTo(nil, mq(0))).set
	got.mq = want.mq
	if got != want || got.maxSpan != 2000 || got.maxMessages != 1000 || got.capacity != 65536 || got.consumeTime != 15*time.Minute || got.pullTime != 120*time.Second || got.clock == nil {
		t.Errorf("%+v; want %+v", got, want)
	}
}

func TestAStoreNeedsAClient(t *testing.T) {
	if _, err := NewRemoteStore(nil, "billing"); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
}

func TestGroupIsChecked(t *testing.T) {
	for _, group := range []string{"", "a\nb", strings.Repeat("x", 256), "\xff"} {
		if _, err := NewRemoteStore(nil, group); offset.CodeOf(err) != offset.CodeInvalid {
			t.Errorf("group %q: %v", group, err)
		}
	}
}
