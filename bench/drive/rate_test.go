package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// A request counts as far as it is inside the window.
func TestPartOfARequest(t *testing.T) {
	from := time.Unix(1000, 0)
	w := window{from, 10 * time.Second}
	at := func(s float64) time.Time { return from.Add(time.Duration(s * float64(time.Second))) }
	for _, c := range []struct{ began, ended, want float64 }{
		{2, 5, 1}, {0, 10, 1}, {-2, 2, 0.5}, {9, 13, 0.25}, {-10, 30, 0.25}, {-3, -1, 0}, {-3, 0, 0}, {10, 12, 0}, {11, 12, 0}, {5, 5, 0},
	} {
		if got := w.part(at(c.began), at(c.ended)); got != c.want {
			t.Errorf("from %v to %v: %v of it is inside, want %v", c.began, c.ended, got, c.want)
		}
	}
	for s, want := range map[float64]bool{-0.1: false, 0: true, 9.9: true, 10: false} {
		if w.holds(at(s)) != want {
			t.Errorf("%v: inside is %v", s, !want)
		}
	}
}

// steady is a load whose requests take a time, and of which every so manieth fails.
type steady struct {
	takes time.Duration
	fails int

	mu   sync.Mutex
	done int
}

var errRefused = errors.New("refused")

func (s *steady) Do(ctx context.Context, _ int) error {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done++; s.fails > 0 && s.done%s.fails == 0 {
		return errRefused
	}
	return nil
}

func (s *steady) Close() error { return nil }

func measured(t *testing.T, load systems.Load, kind results.Kind, callers, batch int) (results.Result, error) {
	t.Helper()
	r := results.Result{Cell: results.Cell{Kind: kind, Work: systems.Work{Op: systems.Write, Callers: callers, Batch: batch}}}
	err := rate(t.Context(), load, 300*time.Millisecond, 2*time.Second, &r)
	return r, err
}

// Eight callers whose requests of ten offsets take 70 ms make 8*10/0.07
// offsets a second, whatever lies across the edges of the window.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := measured(t, &steady{takes: 70 * time.Millisecond}, results.Rate, 8, 10)
		if err != nil {
			t.Fatal(err)
		}
		if want := 8 * 10 / 0.07; len(r.Values) != 1 || r.Values[0] < want*0.9999 || r.Values[0] > want*1.0001 {
			t.Errorf("the rate is %v, want %v", r.Values, want)
		}
		if r.P50 != 70*time.Millisecond || r.P99 != r.P50 || r.Most != r.P50 || r.Failed != 0 {
			t.Errorf("got %+v", r)
		}
	})
}

// Warming up takes as long as it is told.
func TestHeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := heat(t.Context(), &fallible{}, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 2*time.Second || took > 2100*time.Millisecond {
			t.Errorf("warming up for 2 s took %v", took)
		}
	})
}

// Requests longer than the window still have a rate.
func TestRateOfLongRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := measured(t, &steady{takes: 4 * time.Second}, results.Rate, 4, 1000)
		if want := 1000.0; err != nil || r.Values[0] < want*0.9999 || r.Values[0] > want*1.0001 {
			t.Errorf("the rate is %v (%v), want %v", r.Values, err, want)
		}
	})
}

// What failed is counted and told, and is no work that was done.
func TestFailuresAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := measured(t, &steady{takes: 90 * time.Millisecond, fails: 2}, results.Rate, 1, 1)
		if err != nil || r.Failed != 12 || r.Failure != errRefused.Error() {
			t.Errorf("got %+v, %v", r, err)
		}
		// One of two fails, and a failure is followed by a pause of 10 ms.
		if want := 1 / 0.19; r.Values[0] < want*0.95 || r.Values[0] > want*1.05 {
			t.Errorf("the rate is %v, want about %v", r.Values[0], want)
		}
	})
}

// A system that refuses everything is no row, and a batch that is refused is
// one that is not taken.
func TestNothingIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := measured(t, &steady{takes: time.Millisecond, fails: 1}, results.Rate, 2, 1); err == nil || !strings.Contains(err.Error(), "nothing was answered") {
			t.Errorf("the error is %v", err)
		}
		if r, err := measured(t, &steady{takes: time.Millisecond, fails: 1}, results.Tune, 2, 1); err != nil || r.Values[0] != 0 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}
