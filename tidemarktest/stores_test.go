package tidemarktest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// crowd are many consumers on one cluster.
type crowd struct {
	t         *testing.T
	cluster   *tidemarktest.Cluster
	consumers []*consumer
	late      lateness
	stop      []context.CancelFunc
	running   []*sync.WaitGroup
}

// newCrowd gives so many consumers, in processes of so many each: what shares
// a client.
func newCrowd(t *testing.T, n, process int) *crowd {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := &crowd{t: t, cluster: tidemarktest.Start(t, 3, tidemarktest.WithTimers("slow-disk"))}
	var cl *client.Client
	var all sync.WaitGroup
	for i := range n {
		if i%process == 0 {
			cl = c.cluster.Client(client.WithSilence(time.Second)) // a machine full of work is not silent
		}
		s, err := client.NewRemoteStore(cl, "billing", client.WithPersistInterval(time.Duration(i%2)*200*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		one := &consumer{tb: t, client: cl, store: s, late: &c.late, random: rand.New(rand.NewPCG(seed, uint64(i)))}
		for q := range int32(queuesEach) {
			one.queues = append(one.queues, offset.MessageQueue{Topic: fmt.Sprintf("t%d", i), Broker: "bk", QueueID: q})
		}
		c.consumers = append(c.consumers, one)
		all.Go(one.begin)
	}
	all.Wait()
	return c
}

func (c *crowd) start() {
	for _, one := range c.consumers {
		ctx, cancel := context.WithCancel(context.Background())
		all := &sync.WaitGroup{}
		all.Go(func() { one.run(ctx) })
		all.Go(func() { one.watch(ctx) })
		c.stop, c.running = append(c.stop, cancel), append(c.running, all)
	}
}

// end ends one consumer's work, and closes its store within d.
func (c *crowd) end(i int, d time.Duration) (err error) {
	c.stop[i]()
	c.running[i].Wait()
	c.late.call("Close", d, func(ctx context.Context) { err = c.consumers[i].store.Close(ctx) })
	return err
}

// goOn waits until each consumer has had n more runs acknowledged whole.
func (c *crowd) goOn(n int64) {
	c.t.Helper()
	behind := make(map[int]int64)
	for i, one := range c.consumers {
		if c.stop[i] != nil {
			behind[i] = one.rounds.Load() + n
		}
	}
	for deadline := time.Now().Add(6 * patience); len(behind) > 0; time.Sleep(5 * time.Millisecond) {
		for i, want := range behind {
			one := c.consumers[i]
			if one.rounds.Load() >= want {
				delete(behind, i)
			} else if time.Now().After(deadline) {
				c.t.Fatalf("consumer %d of %d that do not go on: its last run failed %v", i, len(behind), one.err.Load())
			}
		}
	}
}

// TestFiftyStoresThroughFaults: fifty stores, ten to a client, persist while leaders die, the network is cut, nodes hang, and answers are
// lost. No acknowledged value is lost or falls; each value is acknowledged,
// reported as not persisted, or both, and persisted in the end; no call comes
// back later than promised. A tenth of the stores is closed in the middle of a
// cut, and names what it could not persist.
func TestFiftyStoresThroughFaults(t *testing.T) {
	rounds, process := 1, 10
	if os.Getenv("SOAK") != "" {
		rounds, process = 20, 5
	}
	c := newCrowd(t, 50, process)
	c.start()
	c.goOn(1)
	for range rounds {
		c.faults()
	}
	early := c.closeSomeCutOff()
	c.cluster.Heal()
	c.goOn(1)
	for i := range c.consumers {
		if early[i] == nil {
			if err := c.end(i, 2*patience); err != nil {
				t.Errorf("closing store %d on a healthy cluster: %v", i, err)
			}
		}
	}
	c.reckon(early)
}

// faults are one of each kind, with everybody going on behind it.
func (c *crowd) faults() {
	c.t.Helper()
	dead := c.cluster.KillLeader()
	c.goOn(1)
	dead.Restart()

	lonely := c.cluster.Leader()
	for _, n := range c.cluster.Nodes() {
		if n != lonely {
			c.cluster.Cut(lonely, n)
		}
	}
	c.goOn(1)
	c.cluster.Heal()

	c.cluster.Cut(tidemarktest.Clients, c.cluster.Leader())
	c.goOn(1) // through the others, which forward
	c.cluster.Heal()

	c.cluster.FailNext(50, tidemarktest.Commit, tidemarktest.LoseAnswer())
	c.goOn(1)
	c.cluster.Heal()

	c.cluster.Pause(c.cluster.Leader())
	c.goOn(1)
	c.cluster.Heal()
	c.goOn(1)
}

// closeSomeCutOff cuts all clients off and closes every tenth store; it gives
// the queues that each of them named.
func (c *crowd) closeSomeCutOff() map[int]map[offset.MessageQueue]bool {
	for _, n := range c.cluster.Nodes() {
		c.cluster.Cut(tidemarktest.Clients, n)
	}
	early := make(map[int]map[offset.MessageQueue]bool)
	for i := 0; i < len(c.consumers); i += 10 {
		one := c.consumers[i]
		c.stop[i]()
		c.running[i].Wait()
		for q, mq := range one.queues { // what is certainly not persisted yet
			one.last[q]++
			one.store.UpdateOffset(mq, one.last[q], true)
		}
		err := c.end(i, 200*time.Millisecond)
		c.stop[i] = nil
		early[i] = one.names(err)
		if len(early[i]) != queuesEach {
			c.t.Errorf("store %d, closed while it was cut off, names %d of %d values: %v", i, len(early[i]), queuesEach, err)
		}
	}
	return early
}

// reckon compares what the cluster has with what was acknowledged and said last.
func (c *crowd) reckon(early map[int]map[offset.MessageQueue]bool) {
	stored := c.cluster.Offsets("billing")
	var acknowledged, reported int64
	for i, one := range c.consumers {
		acknowledged += one.rounds.Load() * queuesEach
		reported += one.named.Load()
		for q, mq := range one.queues {
			got, acked, last := stored[mq], one.acked[q].Load(), one.last[q]
			if got < acked || got > last || got < last && !early[i][mq] {
				c.t.Errorf("%v is at %d; %d was acknowledged, the last value was %d, reported as not persisted: %v", mq, got, acked, last, early[i][mq])
			}
		}
	}
	c.late.mu.Lock()
	defer c.late.mu.Unlock()
	c.t.Logf("%d values acknowledged, %d times one was reported as not persisted; of %d calls the latest (%s) came back %v after its deadline, at most %v after somebody who waits for the deadline alone; the machine was up to %v late by itself",
		acknowledged, reported, c.late.calls, c.late.which, c.late.worst, c.late.own, c.late.machines)
	if bound := promise + 3*c.late.machines; c.late.worst > bound {
		c.t.Errorf("%s came back %v after its deadline; %v is promised, on a machine that is itself up to %v late", c.late.which, c.late.worst, promise, c.late.machines)
	}
	if reported == 0 || acknowledged == 0 {
		c.t.Error("the faults were not felt, or nothing went on")
	}
}
