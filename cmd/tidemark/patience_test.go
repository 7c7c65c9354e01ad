package main

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestALongCallIsAnnounced: at a terminal a run says once that it waits, and
// only if it does; a script is told nothing.
func TestALongCallIsAnnounced(t *testing.T) {
	wait := func(t *testing.T, terminal bool, each ...time.Duration) string {
		var out, errs bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			s := &session{streams: streams{out: &out, err: &errs, terminal: terminal}, ctx: t.Context(), timeout: 10 * time.Second, announced: new(atomic.Bool)}
			for _, d := range each {
				ctx, cancel := s.call()
				answered, answer := context.WithTimeout(ctx, d)
				<-answered.Done()
				answer()
				cancel()
				cancel() // as often as one likes
			}
		})
		return errs.String()
	}
	if said := wait(t, true, patience/2, patience/2, patience/2); said != "" {
		t.Errorf("quick calls are announced: %q", said)
	}
	if said := wait(t, false, 2*patience); said != "" {
		t.Errorf("a script is told %q", said)
	}
	if said := wait(t, true, 2*patience, time.Minute); strings.Count(said, "no answer yet") != 1 || !strings.Contains(said, "10s (--timeout)") {
		t.Errorf("long calls are announced as %q", said)
	}
}
