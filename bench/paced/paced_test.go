package paced

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A pause of the whole counts in every operation that was due in it.
func TestPauseShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Second)
		fault := errors.New("fault")
		l := Start(t.Context(), 100*time.Millisecond, func(_ context.Context, i int) error {
			if wait := time.Until(until); wait > 0 {
				time.Sleep(wait) // the clock of the bubble
			}
			if i == 3 {
				return fault
			}
			return nil
		})
		time.Sleep(1950 * time.Millisecond)
		failed, last := l.Stop()
		if failed != 1 || !errors.Is(last, fault) {
			t.Errorf("%d failed, last with %v", failed, last)
		}
		got := l.Took.Take()
		if len(got) != 20 || got.Of(1) != time.Second || got.Of(0.5) != 0 || got.Of(0.55) != 100*time.Millisecond {
			t.Errorf("samples are %v", got)
		}
	})
}
