package node

import (
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestOnlyOneEntryHangs: a batch may take long, as long as it comes from one entry to
// the next.
func TestOnlyOneEntryHangs(t *testing.T) {
	hangs := func(look func(tick int) progress) bool {
		var h hang
		for tick := range 10 * applyHang {
			if h.saw(look(tick)) {
				return true
			}
		}
		return false
	}
	for name, c := range map[string]struct {
		look func(tick int) progress
		want bool
	}{
		"one entry":      {func(int) progress { return progress{1, 7} }, true},
		"nothing":        {func(int) progress { return progress{0, 7} }, false},
		"a long batch":   {func(tick int) progress { return progress{1, uint64(tick / 5)} }, false},
		"many calls":     {func(tick int) progress { return progress{1 + int64(tick/5), 7} }, false},
		"the last of it": {func(tick int) progress { return progress{1, min(3, uint64(tick))} }, true},
	} {
		if got := hangs(c.look); got != c.want {
			t.Errorf("%s: it hangs: %t, want %t", name, got, c.want)
		}
	}
}

// TestARemovalCountsOnceItIsCommitted: a leader that is cut off, or that dies, may have
// begun to remove a member, and nobody else knows of it.
func TestARemovalCountsOnceItIsCommitted(t *testing.T) {
	says := func(leader string, term, commit, last uint64, members ...string) offset.Status {
		s := offset.Status{NodeID: leader, State: "leader", Term: term, CommitIndex: commit, LastIndex: last}
		for _, m := range members {
			s.Members = append(s.Members, offset.MemberStatus{Member: offset.Member{ID: m}})
		}
		return s
	}
	follower := says("b", 2, 9, 9, "a", "b")
	follower.State = "follower"
	for name, looks := range map[string]struct {
		statuses []offset.Status
		want     int // the look that tells it, counted from 1; 0: none
	}{
		"committed":             {[]offset.Status{says("a", 2, 9, 9, "a", "b"), says("a", 2, 9, 9, "a", "b")}, 2},
		"under load":            {[]offset.Status{says("a", 2, 9, 9, "a"), says("a", 2, 11, 14, "a"), says("a", 2, 13, 16, "a"), says("a", 2, 14, 19, "a")}, 4},
		"never committed":       {[]offset.Status{says("a", 2, 8, 9, "a"), says("a", 2, 8, 9, "a"), says("a", 2, 8, 9, "a")}, 0},
		"after the first look":  {[]offset.Status{says("a", 2, 9, 9, "a"), says("a", 2, 9, 10, "a"), says("a", 2, 9, 10, "a")}, 0},
		"another leader":        {[]offset.Status{says("a", 2, 8, 9, "a"), says("b", 3, 9, 9, "a", "b", "c"), says("a", 2, 9, 9, "a")}, 0},
		"another term":          {[]offset.Status{says("a", 2, 8, 9, "a"), says("a", 4, 9, 9, "a")}, 0},
		"it is listed again":    {[]offset.Status{says("a", 2, 9, 9, "a"), says("a", 2, 9, 9, "a", "c"), says("a", 2, 9, 9, "a")}, 0},
		"nobody who leads":      {[]offset.Status{follower, follower, follower}, 0},
		"followers between":     {[]offset.Status{says("a", 2, 9, 9, "a"), follower, says("a", 2, 9, 9, "a")}, 3},
		"a leader that is none": {[]offset.Status{says("a", 2, 9, 9), says("a", 2, 9, 9)}, 0},
	} {
		var gone absence
		got := 0
		for i := range looks.statuses {
			if gone.confirmed(&looks.statuses[i], "c") {
				got = i + 1
				break
			}
		}
		if got != looks.want {
			t.Errorf("%s: look %d says that it was removed, want %d", name, got, looks.want)
		}
	}
}
