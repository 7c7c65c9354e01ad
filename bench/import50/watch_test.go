package main

import (
	"errors"
	"testing"
)

var errAway = errors.New("connection refused")

func TestWatcherCountsRisesOfTheTerm(t *testing.T) {
	w := &watcher{away: map[string]bool{}}
	for _, term := range []uint64{2, 2, 3, 2, 3, 5} {
		w.saw(term)
	}
	if got := w.changes(); got != 2 {
		t.Errorf("2, 2, 3, 2, 3, 5 are %d rises", got)
	}
}

func TestWatcherForgivesThoseAway(t *testing.T) {
	w := &watcher{away: map[string]bool{}}
	w.pause("n1")
	w.fail("n1", errAway)
	w.resume("n1")
	if len(w.failures) != 0 {
		t.Errorf("a killed node counts: %q", w.failures)
	}
	if w.fail("n1", errAway); len(w.failures) != 1 {
		t.Error("a node that runs and does not answer is not counted")
	}
}

func TestBoundsAreHeld(t *testing.T) {
	tr := &trial{flags: flags{Bounds: true}}
	tr.bound("within", 1, 1, "1")
	if err := tr.late(); err != nil {
		t.Error(err)
	}
	tr.bound("beyond", 2, 1, "2")
	if err := tr.late(); err == nil {
		t.Error("a figure beyond its bound is no failure")
	}
	if tr.Bounds = false; tr.late() != nil {
		t.Error("--no-bounds fails all the same")
	}
}
