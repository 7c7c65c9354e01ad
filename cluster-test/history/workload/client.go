package workload

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// client is one client. What it knows is what it was answered, mostly of long
// ago, so that epochs, bases and offsets are stale as those of real ones are.
type client struct {
	*rand.Rand
	load   *Load
	number int

	generation int64
	known      map[offset.Key]offset.KeyState
	index      uint64 // the newest that it was told
	cluster    offset.ClusterID
	leader     string   // the node that answered as the leader last
	claims     []uint64 // its own
	late       []*record.Op
}

func newClient(l *Load, number int, r *rand.Rand) *client {
	return &client{Rand: r, load: l, number: number, generation: -1}
}

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		if g := c.load.generation(); g != c.generation {
			c.generation, c.known, c.late = g, map[offset.Key]offset.KeyState{}, nil
		}
		if c.cluster.IsZero() || c.index == 0 {
			c.look(ctx)
			continue
		}
		c.next(ctx)
	}
}

// breathe is what a client does after a call that came to nothing: where nobody
// is there it does not spin.
const breathe = 10 * time.Millisecond

// next does one thing, out of all there are.
func (c *client) next(ctx context.Context) {
	for n := c.IntN(1000); ; {
		for _, k := range kinds {
			if n -= k.weight; n < 0 {
				k.do(c, ctx)
				return
			}
		}
	}
}

// kinds are what a client does, each so often in a thousand.
var kinds = []struct {
	weight int
	do     func(*client, context.Context)
}{
	{330, (*client).commit},
	{80, (*client).batch},
	{60, (*client).atomic},
	{60, (*client).set},
	{40, (*client).resend},
	{210, (*client).look},
	{50, (*client).lookAtLeast},
	{70, (*client).lookLocal},
	{20, (*client).list},
	{25, (*client).reset},
	{18, (*client).remove},
	{12, (*client).clone},
	{5, (*client).expire},
	{5, (*client).claim},
	{9, (*client).merge},
	{5, (*client).replaceGroup},
	{1, (*client).replaceAll},
}

// node draws whom to ask: often the leader, as far as known, else anyone.
func (c *client) node() string {
	if c.leader != "" && c.IntN(3) > 0 {
		return c.leader
	}
	names := c.load.arena.Names()
	return names[c.IntN(len(names))]
}

// send sends a request once, and takes over what it is told.
func (c *client) send(ctx context.Context, o *record.Op) *record.Op {
	c.ask(ctx, c.node(), o)
	c.load.calls.Add(1)
	if !o.Answered() {
		c.leader = ""
		time.Sleep(breathe)
		return o
	}
	c.load.answered.Add(1)
	c.learn(o)
	return o
}

// ask sends a request to a node once, and records what came of it.
func (c *client) ask(ctx context.Context, node string, o *record.Op) {
	if o.Writes() {
		c.load.quiet.RLock()
		defer c.load.quiet.RUnlock()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.load.config.Patience)
	defer cancel()
	if o.Writes() && c.IntN(10) == 0 {
		ctx = arena.Hurry(ctx, time.Duration(1+c.IntN(15))*time.Millisecond)
	}
	o.Client, o.Node = c.number, node
	n := c.load.arena.Node(o.Node)
	var err error
	o.Call = c.load.rec.Now()
	switch {
	case o.Commits != nil:
		o.Verdicts, o.Meta, err = n.Commit(ctx, o.Commits)
	case o.Set != nil:
		o.Verdicts = make([]offset.Verdict, 1)
		o.Verdicts[0], o.Meta, err = n.Set(ctx, o.Set)
	case o.Act != nil:
		o.Result = new(offset.ActResult)
		*o.Result, o.Meta, err = n.Act(ctx, o.Act)
	case o.Fetch != nil:
		o.States, o.Meta, err = n.Fetch(ctx, o.Fetch)
	case o.List != nil:
		o.Page = new(offset.Page)
		*o.Page, err = n.List(ctx, o.List)
		o.Meta = o.Page.Meta
	}
	o.Return = c.load.rec.Now()
	if err != nil {
		o.Code, o.Error = offset.CodeOf(err), err.Error()
		o.Verdicts, o.Result, o.States, o.Page = nil, nil, nil, nil
	}
	c.load.rec.Add(o)
}

// learn takes over what an answer says.
func (c *client) learn(o *record.Op) {
	c.cluster = o.Meta.Cluster
	c.index = max(c.index, o.Meta.Index)
	c.leader = ""
	if o.Meta.Leader != "" {
		for _, name := range c.load.arena.Names() {
			if c.load.arena.API(name) == o.Meta.Leader {
				c.leader = name
			}
		}
	}
	if o.Fetch != nil {
		for i, k := range o.Fetch.Keys {
			c.known[k] = o.States[i]
		}
	}
	if o.Set != nil && o.Verdicts[0].Code == offset.CodeOK {
		c.known[o.Set.Key] = o.Verdicts[0].State
	}
}

// insist sends a request until it is answered, for as long as that may help;
// mostly: some clients give up. Each send is recorded by itself.
func (c *client) insist(ctx context.Context, o record.Op) *record.Op {
	for tries := 0; ; tries++ {
		x := o
		sent := c.send(ctx, &x)
		if sent.Answered() || tries > 20 || !offset.Retriable(sent.Code.Err()) || tries > 2 && ctx.Err() != nil || c.IntN(20) == 0 {
			return sent
		}
	}
}
