package scale

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestC49 (redpanda-data/redpanda#23054, apache/inlong#6535): an application that
// takes a new group id at each start leaves dead groups by the hundred thousand.
// Commits, listings, snapshots and memory bear them, a limit keeps further ones
// out, and they can be expired: what committed meanwhile stays, on every node, also
// through a failover.
func TestC49(t *testing.T) {
	groups := effort.Of(6_000, 200_000)
	limit := groups + consumers + 1
	c := gather(t, groups, local.Env("TIDEMARK_LIMIT_GROUPS", fmt.Sprint(limit)))
	l := load.Start(t, c.cluster.Client, load.Shape{Consumers: consumers})
	l.More(3)
	c.fill(0, 1000)
	few := c.latency()
	c.fill(1000, groups)
	t.Logf("one commit behind another at 1,000 groups: %s; at %d: %s", few, groups, c.latency())
	c.snapshots(l)
	for _, n := range c.cluster.Nodes() {
		fits(t, n, 0)
	}
	c.listed()
	c.limited()
	c.expired()
	l.More(3)
	l.Check(c.cluster.Nodes())
}

// latency has one caller raise offsets of groups far apart.
func (c *crowd) latency() string {
	c.Helper()
	var took []time.Duration
	for i := range effort.Of(200, 2000) {
		commit := offset.Commit{Key: c.key(i*7919%1000, 0), Offset: int64(1_000_000 + i)}
		began := time.Now()
		c.commit(commit)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return spread(took)
}

// snapshots has each node take one while consumers go on: it never keeps Apply
// waiting for half a second.
func (c *crowd) snapshots(l *load.Load) {
	c.Helper()
	l.LongestGap()
	for _, n := range c.cluster.Nodes() {
		c.cluster.TidemarkAt(c.Context(), n.Addr, "cluster", "snapshot").Want(c, 0, "", "")
		if took, wrote := metric(c.T, n, "tidemark_snapshot_take_longest_seconds"), metric(c.T, n, "tidemark_snapshot_bytes"); took > 0.5 || wrote < float64(c.groups*queues) {
			c.Errorf("a snapshot of %s kept Apply waiting for %v s, and has %v bytes", n.Name, took, wrote)
		}
	}
	l.More(1)
	c.Logf("longest gap between commits during three snapshots: %v", l.LongestGap().Round(time.Millisecond))
}

// listed pages through the groups while consumers go on: in one order, each once;
// by prefix; and has all keys in one export.
func (c *crowd) listed() {
	c.Helper()
	var all []string
	list := offset.List{What: offset.ListGroups, Limit: 997}
	for more := true; more; {
		page, err := c.client.List(c.within(), list)
		if err != nil {
			c.Fatal(err)
		}
		if all = append(all, page.Names...); len(page.Names) > list.Limit || len(page.Names) == 0 {
			c.Fatalf("a page of %d rows has %d", list.Limit, len(page.Names))
		}
		more, list.After = page.More, &offset.Key{Group: all[len(all)-1]}
	}
	if len(all) != c.groups+consumers || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		c.Errorf("%d rows are listed of %d groups, in order: %v", len(all), c.groups+consumers, slices.IsSorted(all))
	}
	prefix := c.name(1)[:len("dead-9")]
	want := slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, prefix) })
	page, err := c.client.List(c.within(), offset.List{What: offset.ListGroups, Prefix: prefix})
	if err != nil || !slices.Equal(page.Names, want[:min(len(want), offset.MaxPage)]) || page.More != (len(want) > offset.MaxPage) {
		c.Errorf("%d groups are listed by the prefix %q, want %d; %v", len(page.Names), prefix, len(want), err)
	}
	rows := 0
	err = c.client.Export(c.within(), offset.List{What: offset.ListKeys, Broker: "b", HasBroker: true, Topic: "t"}, func(p offset.Page) error {
		rows += len(p.Keys)
		return nil
	})
	if err != nil || rows != c.groups*queues+consumers*queues {
		c.Errorf("%d keys are exported, want %d; %v", rows, (c.groups+consumers)*queues, err)
	}
}

// limited makes groups until the limit is reached: the one beyond it is refused,
// by a code of its own, and those that are there go on.
func (c *crowd) limited() {
	c.Helper()
	fits, beyond := offset.Commit{Key: c.key(c.groups, 0), Offset: 1}, offset.Commit{Key: c.key(c.groups+1, 0), Offset: 1}
	c.commit(fits)
	if _, _, err := c.client.Commit(c.within(), c.id, []offset.Commit{beyond}); !errors.Is(err, offset.ErrLimit) {
		c.Errorf("a group beyond the limit: %v", err)
	}
	fits.Offset = 2
	c.commit(fits)
}

// expired removes all groups but those that have committed since, one of them
// after it was listed; the leader is killed half way.
func (c *crowd) expired() {
	c.Helper()
	alive := []int{0, c.groups / 2, c.groups - 1}
	seen := c.seen(alive[0])
	mark := c.clock()
	for _, i := range alive {
		ask.Until(c, "an offset moves after the mark", func() bool {
			c.commit(offset.Commit{Key: c.key(i, 1), Offset: 2_000_000 + c.clock()})
			return c.changed(i) > mark
		})
	}
	c.meanwhile(seen)
	c.expire(mark)
	leader := c.cluster.Leader()
	c.cluster.Sh("kill", leader)
	for left := true; left; {
		left = c.expire(mark)
	}
	c.cluster.Sh("start", leader)
	c.cluster.Sh("ready")
	for _, n := range c.cluster.Nodes() {
		for i := range c.groups {
			if i%(c.groups/50) != 0 && !slices.Contains(alive, i) {
				continue
			}
			states, _, err := n.Fetch(c.within(), ask.Default, c.key(i, 0))
			if err != nil {
				c.Fatal(err)
			}
			if there := ask.Value(states[0]) >= 0; there != slices.Contains(alive, i) {
				c.Errorf("%s: group %d is there: %v", n.Name, i, there)
			}
		}
	}
	again := offset.Commit{Key: c.key(c.groups+1, 0), Offset: 1, Epoch: c.states(c.groups + 1)[0].Epoch}
	c.commit(again) // there is room
}

// expire removes some groups that have not moved since the mark, and tells whether
// there were any.
func (c *crowd) expire(mark int64) bool {
	c.Helper()
	r := c.cluster.Tidemark("group", "expire", "--unmoved-since", fmt.Sprint(mark), "--prefix", "dead-",
		"--limit", fmt.Sprint(min(c.groups/3, offset.MaxCommits)), "--execute").Want(c, 0, "", "")
	return !strings.HasPrefix(r.Out, "0 groups")
}

// meanwhile expires a group by what was seen before it moved: it is left alone.
func (c *crowd) meanwhile(seen uint64) {
	c.Helper()
	_, meta, err := c.client.Fetch(c.within(), ask.Default, c.key(0, 0))
	if err != nil {
		c.Fatal(err)
	}
	r, _, err := c.client.Act(c.within(), offset.Act{
		ID: offset.ActID{49}, Base: meta.Index, Cluster: c.id, Expire: &offset.Expire{Groups: []offset.Idle{{Group: c.name(0), Seen: seen}}},
	})
	if err != nil || r.Changed != 0 || r.Kept != 1 {
		c.Errorf("a group that has moved since it was listed: %+v, %v", r, err)
	}
}

// seen is the highest index of a group's keys.
func (c *crowd) seen(group int) (index uint64) {
	c.Helper()
	for _, k := range c.states(group) {
		index = max(index, k.Position.Index)
	}
	return index
}

// changed is when a group moved last, Unix milliseconds.
func (c *crowd) changed(group int) (at int64) {
	c.Helper()
	for _, k := range c.states(group) {
		at = max(at, k.Position.Time)
	}
	return at
}

func (c *crowd) states(group int) []offset.KeyState {
	c.Helper()
	var keys []offset.Key
	for q := range int32(queues) {
		keys = append(keys, c.key(group, q))
	}
	states, _, err := c.client.Fetch(c.within(), ask.Default, keys...)
	if err != nil {
		c.Fatal(err)
	}
	return states
}

// clock is the leader's.
func (c *crowd) clock() int64 {
	c.Helper()
	s, err := c.client.Status(c.within(), "")
	if err != nil {
		c.Fatal(err)
	}
	return s.Vitals.Clock
}
