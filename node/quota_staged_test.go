package node

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// chunkOf is a chunk of the replace with the id.
func (l *limited) chunkOf(id byte, number int, list []offset.Target) error {
	l.Helper()
	r := l.act(offset.Act{ID: offset.ActID{id}, Import: &offset.Import{Step: offset.ImportChunk, Chunk: uint32(number), Targets: list}})
	err := l.admit(r)
	if err == nil {
		l.apply(r)
	}
	return err
}

// replaceOf begins a replace of a group, or of all, in as many chunks.
func (l *limited) replaceOf(id byte, group string, chunks int) {
	l.Helper()
	l.apply(l.act(offset.Act{ID: offset.ActID{id}, Import: &offset.Import{Mode: offset.ImportReplace, Group: group, Chunks: uint32(chunks)}}))
}

func (l *limited) swap(id byte) {
	l.Helper()
	l.apply(l.act(offset.Act{ID: offset.ActID{id}, Import: &offset.Import{Step: offset.ImportSwap}}))
}

// resting says until when a prefix is not counted again after the first count.
var resting = map[string]time.Duration{"counted anew": -time.Hour, "counted once": time.Hour}

// TestAPrefixCountsWhatIsStaged: a replace can't bring more under a prefix than the
// prefix may have, whatever it takes the place of.
func TestAPrefixCountsWhatIsStaged(t *testing.T) {
	for name, rest := range resting {
		for _, group := range []string{"", "t-g"} {
			l := newLimited(t, Limits{Queues: 1 << 20, Groups: 1 << 20, Prefixes: []PrefixLimit{{Prefix: "t-", Queues: 100}}})
			l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: numbered("other", 0, 1000)}}))
			l.replaceOf(2, group, 9)
			taken := 0
			for i := range 9 {
				switch err := l.chunkOf(2, taken, numbered("t-g", 40*i, 40)); {
				case err == nil:
					taken++
				case !errors.Is(err, offset.ErrLimit) && (rest < 0 || !errors.Is(err, offset.ErrBusy)):
					t.Errorf("%s, replace of %q, chunk %d: %v", name, group, i, err)
				}
				l.prefixes[0].rest = time.Now().Add(rest)
			}
			if taken != 2 {
				t.Errorf("%s, replace of %q: %d chunks of 40 are taken, want 2", name, group, taken)
			}
		}
	}
}

// TestAPrefixIsReplacedByAsManyKeys: what a replace takes the place of makes room.
func TestAPrefixIsReplacedByAsManyKeys(t *testing.T) {
	for name, rest := range resting {
		for _, group := range []string{"", "t-g"} {
			l := newLimited(t, Limits{Queues: 1 << 20, Groups: 1 << 20, Prefixes: []PrefixLimit{{Prefix: "t-", Queues: 1000}}})
			had := append(numbered("t-g", 0, 800), numbered("t-h", 0, 100)...)
			l.wants("what is there", l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: had}}), nil)
			l.prefixes[0].rest = time.Now().Add(-time.Hour)
			l.replaceOf(2, group, 3)
			for i := range 3 {
				if err := l.chunkOf(2, i, numbered("t-g", 1000*(i+1), 300)); err != nil {
					t.Errorf("%s, replace of %q, chunk %d: %v", name, group, i, err)
				}
				l.prefixes[0].rest = time.Now().Add(rest)
			}
			l.swap(2)
			there := l.machine.Root().QueuesUnder("t-")
			if want := map[string]uint64{"": 900, "t-g": 1000}[group]; there != want {
				t.Errorf("%s, replace of %q: %d queues under the prefix, want %d", name, group, there, want)
			}
			more := l.act(offset.Act{ID: offset.ActID{3}, Reset: &offset.Reset{Targets: numbered("t-i", 0, 101)}})
			if err := l.admit(more); !errors.Is(err, offset.ErrLimit) && (rest < 0 || !errors.Is(err, offset.ErrBusy)) {
				t.Errorf("%s, replace of %q: 101 queues more after the swap: %v", name, group, err)
			}
		}
	}
}

// TestAPrefixDoesNotForgetASwap that came after the count: what was staged then is in
// the table now.
func TestAPrefixDoesNotForgetASwap(t *testing.T) {
	l := newLimited(t, Limits{Queues: 1 << 20, Groups: 1 << 20, Prefixes: []PrefixLimit{{Prefix: "t-", Queues: 1000}}})
	l.replaceOf(1, "t-g", 1)
	if err := l.chunkOf(1, 0, numbered("t-g", 0, 900)); err != nil {
		t.Fatal(err)
	}
	l.prefixes[0].rest = time.Now().Add(-time.Hour)
	l.wants("one beside it, for which the prefix is counted", l.act(offset.Act{ID: offset.ActID{2}, Reset: &offset.Reset{Targets: numbered("t-h", 0, 1)}}), nil)
	l.prefixes[0].rest = time.Now().Add(time.Hour)
	l.swap(1)
	l.wants("a hundred more", l.act(offset.Act{ID: offset.ActID{3}, Reset: &offset.Reset{Targets: numbered("t-i", 0, 100)}}), offset.ErrBusy)
	l.prefixes[0].rest = time.Now().Add(-time.Hour)
	l.wants("a hundred more, counted", l.act(offset.Act{ID: offset.ActID{3}, Reset: &offset.Reset{Targets: numbered("t-i", 0, 100)}}), offset.ErrLimit)
}

// TestAReplaceOfAGroupLeavesOthersOut: keys of theirs are not staged, and not counted.
func TestAReplaceOfAGroupLeavesOthersOut(t *testing.T) {
	l := newLimited(t, Limits{Queues: 1 << 20, Groups: 1 << 20, Prefixes: []PrefixLimit{{Prefix: "t-", Queues: 10}}})
	l.replaceOf(1, "g", 1)
	if err := l.chunkOf(1, 0, append(numbered("t-h", 0, 20), numbered("g", 0, 20)...)); err != nil {
		t.Error(err)
	}
	if got := l.machine.Root().Staged(); got != 20 {
		t.Errorf("%d keys are staged, want 20", got)
	}
}

// TestQuotaOfStagedGroups: a replace brings no more groups than the cluster may have.
func TestQuotaOfStagedGroups(t *testing.T) {
	groups := func(from, n int) (list []offset.Target) {
		for i := range n {
			list = append(list, numbered(fmt.Sprintf("new%03d", from+i), 0, 1)...)
		}
		return list
	}
	l := newLimited(t, Limits{Queues: 1 << 20, Groups: 10})
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: append(numbered("g", 0, 1), numbered("h", 0, 1)...)}}))
	l.replaceOf(2, "", 4)
	for i, c := range []struct {
		list []offset.Target
		want error
	}{
		{groups(0, 6), nil},
		{groups(3, 7), nil}, // ten in all
		{append(groups(9, 1), groups(10, 1)...), offset.ErrLimit},
		{groups(2, 8), nil}, // none is new
	} {
		if err := l.chunkOf(2, min(i, 2), c.list); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("chunk %d: %v, want %v", i, err, c.want)
		}
	}
	if got := l.machine.Root().StagedGroups(); got != 10 {
		t.Errorf("%d groups are staged, want 10", got)
	}
	l = newLimited(t, Limits{Queues: 1 << 20, Groups: 2})
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: append(numbered("g", 0, 1), numbered("h", 0, 1)...)}}))
	l.replaceOf(2, "g", 1)
	if err := l.chunkOf(2, 0, append(numbered("g", 5, 5), groups(0, 5)...)); err != nil {
		t.Errorf("a group replaced by itself: %v", err)
	}
	l = newLimited(t, Limits{Queues: 1 << 20, Groups: 2})
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: append(numbered("g", 0, 1), numbered("h", 0, 1)...)}}))
	l.replaceOf(2, "i", 1)
	if err := l.chunkOf(2, 0, numbered("i", 0, 5)); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("a third group of two: %v", err)
	}
}

// TestAChunkSentAgainIsAdmitted near a limit too: what it brings is staged already. The
// next one still counts.
func TestAChunkSentAgainIsAdmitted(t *testing.T) {
	for name, limits := range map[string]Limits{
		"queues": {Queues: 100, Groups: 1000},
		"prefix": {Queues: 1 << 20, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 100}}},
	} {
		for _, group := range []string{"", "g"} {
			l := newLimited(t, limits)
			l.replaceOf(1, group, 3)
			for i, c := range []struct {
				number, from, n int
				want            error
			}{
				{0, 0, 60, nil},
				{0, 0, 60, nil},
				{1, 60, 41, offset.ErrLimit},
				{1, 60, 40, nil},
				{0, 0, 60, nil},
				{1, 60, 40, nil},
				{2, 100, 1, offset.ErrLimit},
			} {
				if err := l.chunkOf(1, c.number, numbered("g", c.from, c.n)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("limit of %s, replace of %q, attempt %d, chunk %d: %v, want %v", name, group, i, c.number, err, c.want)
				}
			}
			if got := l.machine.Root().Staged(); got != 100 {
				t.Errorf("limit of %s, replace of %q: %d keys are staged, want 100", name, group, got)
			}
		}
	}
}
