package edges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// patient are timers that a busy machine does not run into, and a heartbeat that
// has to wait its turn behind requests for as long as there are more of them does.
var patient = node.Timers{Heartbeat: 3 * time.Second, Election: 3 * time.Second, Lease: 3 * time.Second, Commit: 20 * time.Millisecond}

// crowd is how many callers ask each node at a time; each node takes room of them.
const (
	crowd = 16
	room  = 4
)

// TestOverload: callers that ask for more than a cluster takes are told busy, and
// that nothing was done; nobody loses the leadership for it, also not while others
// send slowly, or do not read their answers. Consumers lose nothing, and go on when
// it is over.
func TestOverload(t *testing.T) {
	c := served.Start(t, 3, func(m *incluster.Member) {
		m.Config.Timers = patient
		m.Config.Limits = node.Limits{Waiting: room, Reads: room}
		m.Config.InFlight, m.Config.SealBytes = 1, 1<<10
	})
	before := c.Leader().Status()
	l := load.Start(t, c.Dial, load.Shape{Consumers: 2})
	slow := hold(t, c)
	o := &onslaught{cluster: before.Meta.Cluster}
	o.run(c.Nodes(), effort.Of(4*time.Second, time.Minute))
	slow()
	if after := c.Leader().Status(); after.Term != before.Term {
		t.Errorf("the term was %d, and is %d: somebody missed heartbeats", before.Term, after.Term)
	}
	if o.busy.Load() == 0 || o.done.Load() == 0 {
		t.Errorf("%d calls were told busy, %d were done", o.busy.Load(), o.done.Load())
	}
	if other := o.other.Load(); other != nil {
		t.Errorf("a call that was refused for want of room says: %v", *other)
	}
	t.Logf("%d calls done, %d told busy", o.done.Load(), o.busy.Load())
	l.More(3)
	l.Check(c.Nodes())
}

// onslaught is more calls than a cluster takes.
type onslaught struct {
	cluster    offset.ClusterID
	done, busy atomic.Int64
	other      atomic.Pointer[error]
}

// run has a crowd at each node for a while.
func (o *onslaught) run(nodes []*ask.Node, d time.Duration) {
	end := make(chan struct{})
	var all sync.WaitGroup
	for i, n := range nodes {
		for j := range crowd {
			all.Go(func() {
				for k := 0; ; k++ {
					select {
					case <-end:
						return
					default:
						o.call(n, i*crowd+j, k)
					}
				}
			})
		}
	}
	<-time.NewTimer(d).C
	close(end)
	all.Wait()
}

// call is a large commit or a read.
func (o *onslaught) call(n *ask.Node, who, round int) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	group := fmt.Sprint("crowd-", who)
	var err error
	if round%4 == 3 {
		_, _, err = n.Fetch(ctx, offset.ReadAt{}, offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: "t"}})
	} else {
		c := offset.TopicCommits{Group: group, Topic: "t"}
		for q := range int32(200) {
			c.Queues = append(c.Queues, offset.QueueCommit{QueueID: q, Offset: int64(round)})
		}
		_, _, err = n.Commit(ctx, &offset.Commits{Cluster: o.cluster, Topics: []offset.TopicCommits{c}})
	}
	switch {
	case err == nil:
		o.done.Add(1)
	case errors.Is(err, offset.ErrBusy) && offset.OutcomeOf(err) == offset.NotDone:
		o.busy.Add(1)
	default:
		o.other.CompareAndSwap(nil, &err)
	}
}

// hold opens connections that take long: some never end their header, some never
// read what they asked for. It returns what closes them.
func hold(t *testing.T, c *served.Cluster) (release func()) {
	t.Helper()
	host := c.Net.Host("slow")
	c.Outside = append(c.Outside, "slow")
	var open []net.Conn
	var drips sync.WaitGroup
	for _, m := range c.Members {
		for i := range 20 {
			nc, err := host.Dial(ask.Within(t, ask.Patience), m.Config.AdvertiseAPI)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, nc)
			drips.Go(func() { drip(nc, i%2 == 0) })
		}
	}
	return func() {
		for _, nc := range open {
			_ = nc.Close() // the node may have
		}
		drips.Wait()
	}
}

// drip sends a header byte by byte, or asks for pages and reads none, until the
// connection is closed.
func drip(nc net.Conn, header bool) {
	text := "POST /tidemark.v1.GroupService/List HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	if header {
		text = "GET / HTTP/1.1\r\nHost: " + fmt.Sprintf("%04000d", 0)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for at := 0; ; at++ {
		part := text
		if header {
			part = text[at%len(text) : at%len(text)+1]
		}
		if _, err := io.WriteString(nc, part); err != nil {
			return
		}
		<-tick.C
	}
}
