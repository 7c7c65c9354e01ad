package server

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func TestDefaultsFillWhatIsZero(t *testing.T) {
	got := Limits{Calls: 7, Stall: time.Second}.withDefaults()
	want := DefaultLimits()
	want.Calls, want.Stall = 7, time.Second
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if err := DefaultLimits().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

// Each field is validated: none may be 0 or negative.
func TestEachLimitIsValidated(t *testing.T) {
	for i := range reflect.TypeFor[Limits]().NumField() {
		l := DefaultLimits()
		f := reflect.ValueOf(&l).Elem().Field(i)
		f.SetInt(-1)
		if err := l.Validate(); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%s = -1: %v", reflect.TypeFor[Limits]().Field(i).Name, err)
		}
		l = Limits{}.withDefaults()
		if reflect.ValueOf(l).Field(i).Int() == 0 {
			t.Errorf("%s has no default", reflect.TypeFor[Limits]().Field(i).Name)
		}
	}
	for _, c := range []struct {
		change func(*Limits)
		text   string
	}{
		{func(l *Limits) { l.Message = offset.MaxRequest - 1 }, "message"},
		{func(l *Limits) { l.Bytes = int64(l.Message) }, "bytes"},
		{func(l *Limits) { l.Timeout = l.MaxTimeout + 1 }, "timeout"},
	} {
		l := DefaultLimits()
		c.change(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// The fewest bytes that are taken have room for the largest message of a stream: it
// would be answered with busy for ever.
func TestTheFewestBytesHaveRoomForTheLargestMessage(t *testing.T) {
	l := DefaultLimits()
	for l.Bytes = 1 << 20; l.Validate() != nil; l.Bytes += 1 << 10 {
	}
	s := New(Config{Service: newFake(), Limits: l})
	h := s.newHold(freeBytes)
	if err := h.grow(l.Message); err != nil {
		t.Fatal(err)
	}
	if err := h.whole(maxElements); err != nil {
		t.Errorf("%d elements in %d bytes, of a limit of %d: %v", maxElements, l.Message, l.Bytes, err)
	}
}

func TestAdmissionGivesBackWhatItRefused(t *testing.T) {
	var busy atomic.Int64
	a := admission{maxCalls: 2, maxBytes: 10, busy: &busy}
	if err := a.take(10); err != nil {
		t.Fatal(err)
	}
	if err := a.take(1); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("beyond the bytes: %v", err)
	}
	if err := a.take(0); err != nil {
		t.Errorf("within both: %v", err)
	}
	if err := a.take(0); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("beyond the calls: %v", err)
	}
	a.release(0)
	a.release(10)
	if a.inFlight.Load() != 0 || a.reserved.Load() != 0 || busy.Load() != 2 {
		t.Errorf("in flight %d, reserved %d, busy %d", a.inFlight.Load(), a.reserved.Load(), busy.Load())
	}
}

// Keys with short names take more memory than their bytes say: each is an
// object in the request, and two in the answer.
func TestCallsWeighByTheirKeysToo(t *testing.T) {
	fetch := &tidemarkv1.FetchRequest{}
	commit := &tidemarkv1.CommitRequest{Commits: []*tidemarkv1.TopicCommits{{Group: "g", Topic: "t"}, {Group: "g", Topic: "u"}}}
	for q := range int32(1000) {
		fetch.Keys = append(fetch.Keys, &tidemarkv1.Key{Group: "g", Topic: "t", QueueId: q})
		t := commit.Commits[q%2]
		t.QueueIds = append(t.QueueIds, q)
	}
	for _, c := range []struct {
		name string
		m    any
		keys int64
	}{
		{"fetch", fetch, 1000 * readMemory},
		{"commit", commit, 1000*commitMemory + 2*topicMemory},
		{"fetch on a stream", &tidemarkv1.Call{Call: &tidemarkv1.Call_Fetch{Fetch: fetch}}, 1000 * readMemory},
		{"commit on a stream", &tidemarkv1.Call{Call: &tidemarkv1.Call_Commit{Commit: commit}}, 1000*commitMemory + 2*topicMemory},
		{"reset", &tidemarkv1.ResetRequest{Targets: make([]*tidemarkv1.Target, 7)}, 7 * targetMemory},
		{"expire", &tidemarkv1.ExpireRequest{Groups: make([]*tidemarkv1.IdleGroup, 7)}, 7 * targetMemory},
		{"set", &tidemarkv1.SetRequest{Key: keyOf("g", 0)}, 0},
		{"list of names", &tidemarkv1.ListRequest{}, offset.MaxPage * nameMemory},
		{"list of keys", &tidemarkv1.ListRequest{What: tidemarkv1.ListKind_LIST_KIND_KEYS}, offset.MaxPage * readMemory},
		{"list of many keys", &tidemarkv1.ListRequest{What: tidemarkv1.ListKind_LIST_KIND_KEYS, Limit: 1 << 31}, offset.MaxPage * readMemory},
		{"list of a few keys", &tidemarkv1.ListRequest{What: tidemarkv1.ListKind_LIST_KIND_KEYS, Limit: 7}, 7 * readMemory},
	} {
		if got, want := weigh(c.m), c.keys+answerFactor*sizeOf(c.m); got != want {
			t.Errorf("%s weighs %d, want %d", c.name, got, want)
		}
	}
}

func TestRunningWaitsForAll(t *testing.T) {
	var r running
	if err := r.wait(t.Context()); err != nil {
		t.Errorf("with nothing running: %v", err)
	}
	r.add()
	r.add()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.wait(ended); !errors.Is(err, context.Canceled) || r.count() != 2 {
		t.Errorf("with an ended context: %v", err)
	}
	var waiting sync.WaitGroup
	for range 2 {
		waiting.Go(func() {
			if err := r.wait(t.Context()); err != nil || r.count() != 0 {
				t.Errorf("wait: %v, %d run", err, r.count())
			}
		})
	}
	r.done()
	r.done()
	waiting.Wait()
}
