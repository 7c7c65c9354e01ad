package node

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// limited is a quota with the state machine it asks.
type limited struct {
	testing.TB
	*quota
	index uint64
}

var limitedCluster = offset.ClusterID{3}

func newLimited(tb testing.TB, l Limits) *limited {
	return &limited{TB: tb, quota: newQuota(&l, &machine{FSM: fsm.New(fsm.Config{Cluster: limitedCluster})})}
}

// apply applies a request, admitted or not.
func (l *limited) apply(r *entry.Request) {
	l.Helper()
	b := entry.NewBuilder(limitedCluster, 1)
	if err := b.Add(r); err != nil {
		l.Fatal(err)
	}
	l.index++
	l.machine.Apply(&raft.Log{Index: l.index, Type: raft.LogCommand, Data: b.Seal(0)})
}

func numbered(group string, from, n int) (list []offset.Target) {
	for i := range n {
		list = append(list, offset.Target{Key: offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: "t", QueueID: int32(from + i)}}})
	}
	return list
}

func (l *limited) act(a offset.Act) *entry.Request {
	a.Cluster, a.Base = limitedCluster, l.index
	return &entry.Request{Act: &a}
}

// TestQuotaOfStagedKeys: what a replace puts beside the table is bounded while it
// is put there, not only when it is swapped in.
func TestQuotaOfStagedKeys(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000})
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Import: &offset.Import{Mode: offset.ImportReplace, Chunks: 9}}))
	for i := range 9 {
		r := l.act(offset.Act{ID: offset.ActID{1}, Import: &offset.Import{Step: offset.ImportChunk, Chunk: uint32(i), Targets: numbered("g", 40*i, 40)}})
		err := l.admit(r)
		if refused := i >= 2; refused != errors.Is(err, offset.ErrLimit) || !refused && err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		if err == nil {
			l.apply(r)
		}
	}
	if got := l.machine.Root().Staged(); got != 80 {
		t.Errorf("%d keys are staged, want 80", got)
	}
	if err := l.admit(l.act(offset.Act{ID: offset.ActID{2}, Reset: &offset.Reset{Targets: numbered("h", 0, 90)}})); err != nil {
		t.Errorf("a reset beside it: %v", err)
	}
}

// TestQuotaOfAReplacedGroup: what a replace of one group stages comes beside what
// other groups have, and in the place of what that group has.
func TestQuotaOfAReplacedGroup(t *testing.T) {
	for _, had := range []int{0, 40} {
		l := newLimited(t, Limits{Queues: 100, Groups: 1000})
		l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: append(numbered("h", 0, 60), numbered("g", 0, had)...)}}))
		l.apply(l.act(offset.Act{ID: offset.ActID{2}, Import: &offset.Import{Mode: offset.ImportReplace, Group: "g", Chunks: 3}}))
		for i, n := range []int{30, 10, 1} {
			r := l.act(offset.Act{ID: offset.ActID{2}, Import: &offset.Import{Step: offset.ImportChunk, Chunk: uint32(i), Targets: numbered("g", 100*(i+1), n)}})
			err := l.admit(r)
			if refused := i == 2; refused != errors.Is(err, offset.ErrLimit) || !refused && err != nil {
				t.Fatalf("%d keys before, chunk %d: %v", had, i, err)
			}
			if err == nil {
				l.apply(r)
			}
		}
	}
}

// TestQuotaOfClaims: groups can't take the claims of brokers.
func TestQuotaOfClaims(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000})
	take := func(number int, byBroker bool) *entry.Request {
		return l.act(offset.Act{ID: offset.ActID{byte(number), byte(number >> 8), 1}, Take: &offset.Take{ByBroker: byBroker, Name: fmt.Sprint("n", number), Holder: "h"}})
	}
	for i := range maxGroupClaims {
		l.wants("a group", take(i, false), nil)
	}
	l.wants("one group more", take(maxGroupClaims, false), offset.ErrLimit)
	l.wants("a broker", take(maxGroupClaims, true), nil)
	l.wants("a group that is claimed", take(7, false), nil)
	if got := l.machine.Root().ClaimedGroups(); got != maxGroupClaims {
		t.Errorf("%d groups are claimed, want %d", got, maxGroupClaims)
	}
}

// TestQuotaOfACutClone: its first entry is admitted for all of it.
func TestQuotaOfACutClone(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000})
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: numbered("g", 0, 60)}}))
	clone := l.act(offset.Act{ID: offset.ActID{2}, Clone: &offset.Clone{From: "g", To: "h"}})
	if err := l.admit(clone); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("a clone of 60 beside 60: %v", err)
	}
	clone.Step = 1
	if err := l.admit(clone); err != nil {
		t.Errorf("a further entry of it: %v", err)
	}
}

// TestQuotaKeepsNoRoot: an old root would hold the memory of all that has
// changed since it was taken.
func TestQuotaKeepsNoRoot(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 50}}})
	reset := l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: numbered("g", 0, 5)}})
	if err := l.admit(reset); err != nil {
		t.Fatal(err)
	}
	old := weak.Make[table.Root](l.machine.Root())
	l.apply(reset)
	runtime.GC()
	runtime.GC()
	if old.Value() != nil {
		t.Error("the root of the count is still held")
	}
	runtime.KeepAlive(l)
}

// TestQuotaCountsWhatIsInFlight: groups that were under way when the table was
// counted are not forgotten once they are there.
func TestQuotaCountsWhatIsInFlight(t *testing.T) {
	groups := func(from, n int) entry.Request {
		r := commits(fmt.Sprint("group", from), 1)
		for i := 1; i < n; i++ {
			r.Commits.Topics = append(r.Commits.Topics, commits(fmt.Sprint("group", from+i), 1).Commits.Topics...)
		}
		return r
	}
	for name, limit := range map[string]func(*Limits){
		"groups": func(l *Limits) { l.Groups = 10 },
		"prefix": func(l *Limits) { l.Prefixes = []PrefixLimit{{Prefix: "group", Queues: 10}} },
	} {
		t.Run(name, func(t *testing.T) {
			proposing(t, func(c *Config) { limit(&c.Limits) }, func(p *proposer, l *fakeLog) {
				ctx := context.Background()
				entries := 0
				apply := func(done <-chan error) {
					t.Helper()
					synctest.Wait()
					for ; l.at(entries) != nil; entries++ {
						l.commit(entries, nil)
						synctest.Wait()
					}
					if err := <-done; err != nil {
						t.Fatal(err)
					}
				}
				apply(call(ctx, p, groups(0, 4)))
				six, known := call(ctx, p, groups(4, 6)), call(ctx, p, groups(0, 4)) // the table is counted for the second
				apply(six)
				apply(known)
				if err := <-call(ctx, p, groups(10, 1)); !errors.Is(err, offset.ErrLimit) {
					t.Errorf("an eleventh group of ten: %v", err)
				}
				apply(call(ctx, p, groups(0, 10)))
			})
		})
	}
}

// TestQuotaForgetsWhatItRefused: what one limit refuses does not count for another.
func TestQuotaForgetsWhatItRefused(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 50}, {Prefix: "gh", Queues: 3}}})
	reset := func(group string, n int) error {
		return l.admit(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: numbered(group, 0, n)}}))
	}
	if err := reset("gh", 40); !errors.Is(err, offset.ErrLimit) {
		t.Fatalf("40 where 3 are allowed: %v", err)
	}
	if err := reset("g", 30); err != nil {
		t.Errorf("30 of 50: %v", err)
	}
}

// TestQuotaOfAPrefixKeepsWhatIsInFlight: what was under way when the prefix was
// counted once more is not forgotten.
func TestQuotaOfAPrefixKeepsWhatIsInFlight(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 10}}})
	var flying []*entry.Request
	l.unapplied = func() int { return len(flying) }
	admit := func(from, n int) error {
		r := l.act(offset.Act{ID: offset.ActID{byte(from), byte(n)}, Reset: &offset.Reset{Targets: numbered("g", from, n)}})
		err := l.admit(r)
		if err == nil {
			flying = append(flying, r)
		}
		return err
	}
	land := func() {
		for ; len(flying) > 0; flying = flying[1:] {
			l.apply(flying[0])
		}
	}
	if err := admit(0, 4); err != nil {
		t.Fatal(err)
	}
	land()
	if err := admit(4, 6); err != nil {
		t.Fatal(err)
	}
	l.apply(l.act(offset.Act{ID: offset.ActID{9}, Reset: &offset.Reset{Targets: numbered("another", 0, 1)}}))
	if err := admit(6, 4); !errors.Is(err, offset.ErrBusy) { // counted once more, while six are under way
		t.Errorf("four more while six of ten may be under way: %v", err)
	}
	land()
	if err := admit(6, 4); err != nil {
		t.Errorf("what is there now: %v", err)
	}
	land()
	l.prefixes[0].rest = time.Time{} // as if it were long ago
	if err := admit(10, 1); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("an eleventh queue of ten: %v", err)
	}
}

// TestQuotaOfAFullPrefixIsSaidAtOnce, while others commit too: who is told to come
// again holds up all that it sends beside.
func TestQuotaOfAFullPrefixIsSaidAtOnce(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 10}}})
	reset := func(group string, from, n int) *entry.Request {
		return l.act(offset.Act{ID: offset.ActID{byte(l.index), 1}, Reset: &offset.Reset{Targets: numbered(group, from, n)}})
	}
	rests := func(d time.Duration) { l.prefixes[0].rest = time.Now().Add(d) }
	l.wants("nine of ten", reset("g", 0, 9), nil)
	rests(-1)
	l.wants("two where one has room", reset("g", 9, 2), offset.ErrLimit)
	rests(time.Hour)
	l.wants("another group", reset("another", 0, 1), nil)
	l.wants("two, after what others did", reset("g", 9, 2), offset.ErrLimit)
	l.wants("the tenth", reset("g", 9, 1), nil)
	l.wants("an eleventh, which the count has room for", reset("g", 10, 1), offset.ErrBusy)
	rests(-1)
	l.wants("an eleventh, counted", reset("g", 10, 1), offset.ErrLimit)
	rests(time.Hour)
	l.apply(l.act(offset.Act{ID: offset.ActID{0, 2}, Remove: &offset.Remove{Scope: offset.Scope{Group: "g"}}}))
	l.wants("one after a removal", reset("g", 10, 1), offset.ErrLimit)
	rests(-1)
	l.wants("one after a removal, counted", reset("g", 10, 1), nil)
}

// TestQuotaHoldsAgainstManyAtOnce: a burst of new keys, none of which has landed.
func TestQuotaHoldsAgainstManyAtOnce(t *testing.T) {
	for name, limits := range map[string]Limits{
		"queues": {Queues: 10, Groups: 1000},
		"groups": {Queues: 1000, Groups: 10},
		"prefix": {Queues: 1000, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 10}}},
	} {
		l := newLimited(t, limits)
		var flying []*entry.Request
		l.unapplied = func() int { return len(flying) }
		for i := range 100 {
			r := l.act(offset.Act{ID: offset.ActID{byte(i)}, Reset: &offset.Reset{Targets: numbered(fmt.Sprint("g", i), 0, 1)}})
			switch err := l.admit(r); {
			case err == nil:
				flying = append(flying, r)
			case !errors.Is(err, offset.ErrBusy):
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(flying) != 10 {
			t.Errorf("%s: %d are admitted, want 10", name, len(flying))
		}
		for ; len(flying) > 0; flying = flying[1:] {
			l.apply(flying[0])
		}
		for i := range l.prefixes {
			l.prefixes[i].rest = time.Time{} // as if it were long ago
		}
		last := l.act(offset.Act{ID: offset.ActID{200}, Reset: &offset.Reset{Targets: numbered("gz", 0, 1)}})
		if err := l.admit(last); !errors.Is(err, offset.ErrLimit) {
			t.Errorf("%s: an eleventh: %v", name, err)
		}
	}
}

// TestQuotaCountsAnewInANewTerm: others have led since, and filled the table.
func TestQuotaCountsAnewInANewTerm(t *testing.T) {
	for name, limits := range map[string]Limits{
		"queues": {Queues: 10_000, Groups: 1000},
		"prefix": {Queues: 100_000, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 10_000}}},
	} {
		l := newLimited(t, limits)
		term := uint64(3)
		l.term = func() uint64 { return term }
		reset := func(from, n int) *entry.Request {
			return l.act(offset.Act{ID: offset.ActID{byte(from / 100), byte(n)}, Reset: &offset.Reset{Targets: numbered("g", from, n)}})
		}
		if err := l.admit(reset(0, 1)); err != nil {
			t.Fatal(err)
		}
		l.apply(reset(0, 10_000)) // by another leader
		term = 5
		if err := l.admit(reset(10_000, 100)); !errors.Is(err, offset.ErrLimit) {
			t.Errorf("%s: beyond what another leader has filled: %v", name, err)
		}
	}
}

// TestQuotaLeavesRoomForNewKeys: commits of keys that are there take no room of
// those that are new, however many are in flight.
func TestQuotaLeavesRoomForNewKeys(t *testing.T) {
	for name, limits := range map[string]Limits{
		"queues": {Queues: 10_000, Groups: 1000},
		"prefix": {Queues: 100_000, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "g", Queues: 10_000}}},
	} {
		l := newLimited(t, limits)
		flying := 0
		l.unapplied = func() int { return flying }
		reset := func(from, n int) *entry.Request {
			return l.act(offset.Act{ID: offset.ActID{byte(from / 100), byte(n)}, Reset: &offset.Reset{Targets: numbered("g", from, n)}})
		}
		l.apply(reset(0, 5_000))
		for i := range 20 {
			if err := l.admit(reset(100*i, 1000)); err != nil {
				t.Fatalf("%s: keys that are there: %v", name, err)
			}
			flying++
		}
		if err := l.admit(reset(5_000, 100)); err != nil {
			t.Errorf("%s: a hundred new ones: %v", name, err)
		}
	}
}

// TestQuotaOfANarrowClone: near a limit it counts for what it creates, not for all
// that the group has which it copies from.
func TestQuotaOfANarrowClone(t *testing.T) {
	l := newLimited(t, Limits{Queues: 100, Groups: 1000, Prefixes: []PrefixLimit{{Prefix: "h", Queues: 30}}})
	small := numbered("g", 0, 20)
	for i := range small {
		small[i].Key.Topic, small[i].Key.Broker = "small", fmt.Sprint("b", i%2)
	}
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Reset: &offset.Reset{Targets: append(numbered("g", 0, 50), small...)}}))
	clone := func(id byte, c offset.Clone) *entry.Request {
		return l.act(offset.Act{ID: offset.ActID{id}, Clone: &c})
	}
	l.wants("70 of 70", clone(2, offset.Clone{From: "g", To: "h"}), offset.ErrLimit)
	l.wants("one topic", clone(3, offset.Clone{From: "g", To: "h", Topic: "small"}), nil)
	l.wants("the same again", clone(4, offset.Clone{From: "g", To: "h", Topic: "small"}), nil)
	done := clone(5, offset.Clone{From: "g", To: "h2", HasBroker: true, Broker: "b1"})
	l.wants("one broker of it, as many as a prefix has room for", done, nil)
	l.wants("one more", clone(6, offset.Clone{From: "g", To: "i", HasBroker: true, Broker: "b1"}), offset.ErrLimit)
	l.wants("onto itself", clone(7, offset.Clone{From: "g", To: "g"}), nil)
	if got := l.machine.Root().Queues(); got != 100 {
		t.Errorf("%d queues, want 100", got)
	}
	l.wants("under the prefix", clone(8, offset.Clone{From: "g", To: "h3", Topic: "small"}), offset.ErrLimit)
	l.apply(l.act(offset.Act{ID: offset.ActID{9}, Remove: &offset.Remove{Scope: offset.Scope{Group: "h2"}}}))
	l.apply(l.act(offset.Act{ID: offset.ActID{10}, Reset: &offset.Reset{Targets: numbered("z", 0, 10)}}))
	l.wants("one that was done, sent again", done, nil)
}
