package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// killed is what kills of a broker and all its consumers cost.
type killed struct {
	behind  int   // queues whose offset was below what had been acknowledged
	commits int64 // acknowledged two-way commits that were lost
	again   int   // messages delivered again
	skipped int   // ... and never
}

func (k killed) String() string {
	return fmt.Sprintf("%d queues behind, %d acknowledged commits lost, %d messages delivered again, %d skipped", k.behind, k.commits, k.again, k.skipped)
}

// TestKillOfBrokerAndConsumers kills the broker and all consumers in the same
// instant, under load, with the jar and without, ten times (SOAK=1) at moments
// spread over the time between two writes of the broker's file. With the jar no
// acknowledged commit is lost, and what is delivered again is less than a tenth.
func TestKillOfBrokerAndConsumers(t *testing.T) {
	apart(t)
	cost := map[stand.Where]killed{}
	stand.Both(t, javaparts.RocketMQ5, func(t *testing.T, s *stand.Stand) {
		cost[s.Where] = killAll(t, s, effort.Of(1, 10))
		t.Logf("%-8s %v", s.Where, cost[s.Where])
		if s.Where == stand.Tidemark && (cost[s.Where].behind > 0 || cost[s.Where].skipped > 0) {
			t.Errorf("with the jar: %v", cost[s.Where])
		}
	})
	less := effort.Of(4, 10) // one kill on a busy machine shows the order of it
	if plain, ours := cost[stand.Plain], cost[stand.Tidemark]; ours.again*less >= plain.again {
		t.Errorf("delivered again: %d with the jar, %d without; want less than 1/%d", ours.again, plain.again, less)
	}
}

// flushes is how often a broker writes its file (flushConsumerOffsetInterval).
const flushes = 5 * time.Second

func killAll(t *testing.T, s *stand.Stand, rounds int) (sum killed) {
	const queues = 256
	config := map[string]string{}
	if s.Where == stand.Tidemark {
		config["tidemarkLostLog"] = "keep" // no messages stand behind what the committer commits
	}
	b := s.Broker(config)
	b.CreateTopic("load", 8)
	b.CreateTopic("commits", queues)
	b.CreateGroup("g")
	b.CreateGroup("raw")
	sender := fleet.Start(t, fleet.Java5, s.Names.Addr)
	sent := sender.Produce("producer", "load", fleet.Load{Rate: 500, Threads: 4, Bytes: 100})
	consumers := fleet.Start(t, fleet.Java5, s.Names.Addr)
	got := []*fleet.Record{consumers.Consume(fleet.Push, "g", "load", 2)}
	for round := range rounds {
		raw := commit(t, b, "raw", "commits", queues, 8)
		ask.Until(t, "consumers are at work", func() bool { return got[round].Len() > 500 })
		ask.Until(t, "commits of all queues are acknowledged", raw.all)
		awaitMoment(t, b, time.Duration(2*round+1)*flushes/time.Duration(2*rounds))
		together(b.Kill, consumers.Kill)
		raw.halt()
		b.Start()
		behind, commits := raw.lost(t, b)
		sum.behind, sum.commits = sum.behind+behind, sum.commits+commits
		t.Logf("kill %d: %v; %d queues behind, %d lost", round+1, raw, behind, commits)
		consumers = fleet.Start(t, fleet.Java5, s.Names.Addr)
		got = append(got, consumers.Consume(fleet.Push, "g", "load", 2))
	}
	ask.Until(t, "consumers are at work again", func() bool { return got[rounds].Len() > 500 })
	sender.Stop("producer")
	tally := fleet.Await(time.Minute, sent, got...)
	t.Log(tally)
	sum.again, sum.skipped = tally.Again, tally.Skipped
	return sum
}

// awaitMoment waits until so much of the time between two writes of the broker's
// file has passed: what a kill costs a plain broker depends on it.
func awaitMoment(t *testing.T, b *javaparts.Broker, after time.Duration) {
	t.Helper()
	path := filepath.Join(b.Store, "config", "consumerOffset.json")
	written := func() time.Time {
		info, err := os.Stat(path)
		if err != nil {
			return time.Time{} // not yet
		}
		return info.ModTime()
	}
	old := written()
	ask.Until(t, "the broker writes its file", func() bool { return written() != old })
	time.Sleep(after) // the moment is what is wanted, not a condition
}

// together runs functions at the same time and waits for all.
func together(all ...func()) {
	var wg sync.WaitGroup
	for _, f := range all {
		wg.Go(f)
	}
	wg.Wait()
}
