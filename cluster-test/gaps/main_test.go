package main

import (
	"testing"
	"time"
)

// The gap ends at the first acknowledgement of the new leader, not at one that
// was under way when the old one was killed.
func TestGap(t *testing.T) {
	ms := int64(time.Millisecond)
	acks := []int64{990 * ms, 999 * ms, 1002 * ms, 1600 * ms, 1605 * ms}
	got, err := gap(acks, 1000*ms)
	if err != nil || got != 600*time.Millisecond {
		t.Fatalf("gap %v, %v; want 600ms", got, err)
	}
	if _, err := gap(acks[:3], 1100*ms); err == nil {
		t.Fatal("a kill with nothing acknowledged after it has a gap")
	}
}
