package node_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// held is how long a stage is held up: longer than a busy machine takes for the
// others, at least once in some tries.
const held = 500 * time.Millisecond

// brake holds up the writes of one member's log while it is on.
type brake struct{ on atomic.Bool }

func (b *brake) fault(op store.Op) error {
	if b.on.Load() && op == store.OpAppend {
		time.Sleep(held)
	}
	return nil
}

// stagesOf are the stages of an entry by name.
func stagesOf(c node.EntryCost) map[string]time.Duration {
	s := c.Stages
	return map[string]time.Duration{"queue": s.Queue, "log": s.Log, "quorum": s.Quorum, "handover": s.Handover, "apply": s.Apply}
}

// TestWhatIsHeldUpShowsInItsStage holds up one stage of a commit after another:
// the time is found there, and not in the others.
func TestWhatIsHeldUpShowsInItsStage(t *testing.T) {
	brakes := map[string]*brake{}
	costs := make(chan node.EntryCost, 1024)
	var apply atomic.Bool
	c := incluster.Start(t, 3, func(m *incluster.Member) {
		b := &brake{}
		brakes[m.Name] = b
		m.Config.Unsafe.Store.Fault = b.fault
		m.Config.OnEntry = func(e node.EntryCost) { costs <- e }
		m.Config.Timers = node.Timers{Heartbeat: 2 * time.Second, Election: 2 * time.Second, Lease: 2 * time.Second, Commit: 15 * time.Millisecond}
		m.Config.Unsafe.Digest = func(d offset.Digest) offset.Digest {
			if apply.Load() {
				time.Sleep(held)
			}
			return d
		}
		m.Config.Checkpoints.Entries = 1 << 30
	})
	leader := c.Leader()
	commits := 0
	commit := func() (offsets int) { // each has a number of its own, by which its cost is known
		commits++
		leader.Fill("g", commits, int64(commits))
		return commits
	}
	quiet(c)
	commit()
	settle(c)
	for stage, hold := range map[string]func(on bool){
		"log": func(on bool) { brakes[leader.Name].on.Store(on) },
		"quorum": func(on bool) {
			for _, m := range c.Followers(leader) {
				brakes[m.Name].on.Store(on)
			}
		},
	} {
		hold(true)
		shows(t, stage, commit, costs)
		hold(false)
		settle(c)
	}
	apply.Store(true)
	shows(t, "apply", func() (offsets int) {
		if _, _, err := leader.Node().Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		return 0
	}, costs)
	apply.Store(false)
	shows(t, "queue", func() (offsets int) {
		resume := node.HoldProposing(t, leader.Node())
		defer time.AfterFunc(held, resume).Stop()
		return commit()
	}, costs)
}

// settle waits until no member lags.
func settle(c *incluster.Cluster) {
	c.TB.Helper()
	leader := c.Leader()
	c.Until("all members have what the leader has", func() bool {
		for _, m := range c.Members {
			if m.Status().DigestIndex < leader.Status().DigestIndex {
				return false
			}
		}
		return true
	})
}

// shows has entries made while one stage is held up. The least that they took in
// each stage says where it was: a busy machine holds the others up too at times,
// but not every time.
func shows(t *testing.T, stage string, entry func() (offsets int), costs chan node.EntryCost) {
	t.Helper()
	for len(costs) > 0 {
		<-costs
	}
	least := map[string]time.Duration{}
	for range 20 {
		slow := 0
		for name, took := range stagesOf(costOf(t, costs, entry())) {
			if was, ok := least[name]; !ok || took < was {
				least[name] = took
			}
			if least[name] >= held/2 {
				slow++
			}
		}
		if slow <= 1 {
			break
		}
	}
	for name, took := range least {
		if slow := took >= held/2; slow != (name == stage) {
			t.Errorf("with %s held up for %v each, entries took %v at least in %s", stage, held, took, name)
		}
	}
}

// costOf is the cost of the entry with that many offsets. What is told of others is
// passed over: of the one before, whose caller may be answered first, or of a member's
// announcement.
func costOf(t *testing.T, costs chan node.EntryCost, offsets int) (e node.EntryCost) {
	t.Helper()
	for e = next(t, costs); e.Offsets != offsets; {
		e = next(t, costs)
	}
	return e
}

// next is the cost of the next entry.
func next(t *testing.T, costs chan node.EntryCost) (e node.EntryCost) {
	t.Helper()
	select {
	case e = <-costs:
	case <-time.After(incluster.Patience):
		t.Fatal("nothing is told of an entry")
	}
	return e
}

// TestCostOfAnEntry: what is told of an entry is what it carried, and Status and
// the hook agree.
func TestCostOfAnEntry(t *testing.T) {
	costs := make(chan node.EntryCost, 1024)
	var writes, bytes atomic.Int64
	c := incluster.Start(t, 1, func(m *incluster.Member) {
		m.Config.OnEntry = func(e node.EntryCost) { costs <- e }
		m.Config.OnWrite = func(took time.Duration, n int) {
			if took > 0 {
				writes.Add(1)
				bytes.Add(int64(n))
			}
		}
	})
	m := c.Leader()
	quiet(c)
	m.MustCommit(incluster.Key("first", 0), 1)
	costOf(t, costs, 1)
	before, proposed, written := m.Status().Vitals, metric(m, "proposed_bytes_total"), bytes.Load()
	began := time.Now()
	m.Fill("g", 5000, 1)
	all := time.Since(began)
	requests, offsets, size, sum := 0, 0, 0, time.Duration(0)
	for offsets < 5000 {
		e := next(t, costs)
		if e.InFlight < 1 || e.InFlight > 3 || e.Stages.Log <= 0 || e.Stages.Quorum != 0 || e.Stages.Total() > all {
			t.Errorf("an entry of a member alone: %+v", e)
		}
		requests, offsets, size, sum = requests+e.Requests, offsets+e.Offsets, size+e.Bytes, sum+e.Stages.Total()
	}
	if offsets != 5000 || requests < 1 || float64(size) != metric(m, "proposed_bytes_total")-proposed {
		t.Errorf("%d offsets in %d requests and %d bytes were told", offsets, requests, size)
	}
	if writes.Load() == 0 || bytes.Load()-written < int64(size) {
		t.Errorf("%d writes with %d bytes were told, and entries have %d", writes.Load(), bytes.Load()-written, size)
	}
	v := m.Status().Vitals
	if got := v.Stages.Total() - before.Stages.Total(); got != sum || v.Entries <= before.Entries {
		t.Errorf("status tells of %v for %d entries, the hook of %v", got, v.Entries-before.Entries, sum)
	}
	if table := metric(m, "table_bytes"); table < 33*5000 || table > 100*5000 {
		t.Errorf("the table takes %v bytes", table)
	}
}
