package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm/rule"
	"github.com/tidemark-mq/tidemark/offset"
)

var testCluster = offset.ClusterID{7}

// op is one request; exactly one of the fields is set.
type op struct {
	commits *offset.Commits
	set     *offset.Set
	act     *offset.Act
	step    uint32
}

// logEntry is one entry of a made-up log.
type logEntry struct {
	index uint64
	ms    int64
	ops   []op
}

// answer is what an op was answered, for comparison.
type answer struct {
	verdicts []offset.Verdict
	res      offset.ActResult
}

func applyOp(t *Table, o op, ch *Changes) answer {
	switch {
	case o.commits != nil:
		return answer{verdicts: t.Commit(o.commits, nil)}
	case o.set != nil:
		return answer{verdicts: []offset.Verdict{t.Set(o.set, ch)}}
	}
	return answer{res: t.Act(o.act, o.step, ch)}
}

// plain is what the table must agree with.
type plain struct{ *rule.State }

func newPlain(cluster offset.ClusterID, step int) *plain {
	p := &plain{rule.New(cluster)}
	p.Bounds.Step = step
	return p
}

func (p *plain) apply(o op) answer {
	switch {
	case o.commits != nil:
		return answer{verdicts: p.Commit(o.commits)}
	case o.set != nil:
		return answer{verdicts: []offset.Verdict{p.Set(o.set)}}
	}
	return answer{res: p.Act(o.act, o.step)}
}

// newTestTable has a small step, so that small acts are cut.
func newTestTable(step int) *Table {
	t := New(testCluster)
	t.step = step
	return t
}

// replay applies entries, publishing now and then.
func replay(t *Table, log []logEntry) *Table {
	for i, e := range log {
		t.Begin(e.index, e.ms)
		for _, o := range e.ops {
			applyOp(t, o, nil)
		}
		if i%3 == 0 {
			t.Publish()
		}
	}
	t.Publish()
	return t
}

// gen makes up requests, most of them sensible. It reads from the plain model
// and remembers old requests, to send them again late.
type gen struct {
	*rand.Rand
	p       *plain
	index   uint64
	old     []op
	pending []op // acts to go on with
	acts    byte
	queues  int32
}

func newGen(seed uint64, p *plain) *gen {
	return &gen{Rand: rand.New(rand.NewPCG(seed, 1)), p: p, queues: 4}
}

func (g *gen) name(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, g.IntN(n)) }
func (g *gen) group() string                    { return g.name("g", 3) }
func (g *gen) topic() string                    { return g.name("t", 3) }

func (g *gen) broker() string {
	if g.IntN(2) == 0 {
		return ""
	}
	return "b1"
}

func (g *gen) key() offset.Key {
	return offset.Key{Group: g.group(), MessageQueue: offset.MessageQueue{Topic: g.topic(), Broker: g.broker(), QueueID: g.Int32N(g.queues)}}
}

func (g *gen) clusterID() offset.ClusterID {
	if g.IntN(40) == 0 {
		return offset.ClusterID{9}
	}
	return testCluster
}

// epoch is mostly what the key has.
func (g *gen) epoch(k offset.Key) uint64 {
	if g.IntN(10) == 0 {
		return g.Uint64N(g.index + 1)
	}
	return g.p.Get(k).Epoch
}

func (g *gen) commits() op {
	c := &offset.Commits{Cluster: g.clusterID(), Atomic: g.IntN(4) == 0}
	for range 1 + g.IntN(3) {
		k := g.key()
		t := offset.TopicCommits{Group: k.Group, Topic: k.Topic, Broker: k.Broker}
		for range 1 + g.IntN(5) {
			k.QueueID = g.Int32N(g.queues)
			t.Queues = append(t.Queues, offset.QueueCommit{QueueID: k.QueueID, Offset: g.Int64N(30), Epoch: g.epoch(k)})
		}
		c.Topics = append(c.Topics, t)
	}
	return op{commits: c}
}

func (g *gen) setOp() op {
	k := g.key()
	st := g.p.Get(k)
	s := &offset.Set{Key: k, Offset: g.Int64N(30), Cluster: g.clusterID(), Epoch: st.Epoch, Exists: st.Exists, Replaces: st.Position.Offset, Operator: g.IntN(2) == 0}
	if s.Operator {
		s.Epoch, s.Claim = st.Position.Epoch, g.claimOf()
	}
	if g.IntN(8) == 0 {
		s.Replaces++
	}
	return op{set: s}
}

// claimOf is a claim that an act comes through: mostly none.
func (g *gen) claimOf() uint64 {
	if len(g.p.Claims) == 0 || g.IntN(3) > 0 {
		return 0
	}
	return g.p.Claims[g.IntN(len(g.p.Claims))].Index
}

func (g *gen) base() uint64 {
	if g.IntN(3) == 0 && g.index > 6 {
		return g.index - g.Uint64N(6)
	}
	return g.index
}

func (g *gen) targets(n int) []offset.Target {
	seen := map[offset.Key]int64{}
	for range n {
		seen[g.key()] = g.Int64N(30)
	}
	var out []offset.Target
	for k, v := range seen {
		out = append(out, offset.Target{Key: k, Offset: v})
	}
	slices.SortFunc(out, offset.Target.Compare)
	return out
}

func (g *gen) actOp() op {
	g.acts++
	a := &offset.Act{ID: offset.ActID{1, g.acts, byte(g.index), byte(g.index >> 8)}, Base: g.base(), Cluster: g.clusterID(), Claim: g.claimOf()}
	switch g.IntN(9) {
	case 0, 1:
		a.Reset = &offset.Reset{Targets: g.targets(1 + g.IntN(6))}
	case 2, 3:
		s := offset.Scope{Group: g.group(), Topic: g.topic(), HasBroker: g.IntN(2) == 0, Broker: g.broker()}
		switch g.IntN(5) {
		case 0:
			s.Topic = ""
		case 1:
			s.Group = ""
		case 2:
			s.HasBroker, s.HasQueue, s.QueueID = true, true, g.Int32N(g.queues)
		}
		if !s.HasBroker {
			s.Broker = ""
		}
		a.Remove = &offset.Remove{Scope: s}
	case 4:
		a.Clone = &offset.Clone{From: g.group(), To: g.group() + "x"[:g.IntN(2)], HasBroker: g.IntN(3) == 0, Broker: g.broker()}
		if g.IntN(2) == 0 {
			a.Clone.Topic = g.topic()
		}
		if a.Clone.From == a.Clone.To {
			a.Clone.To += "y"
		}
	case 5:
		a.Expire = &offset.Expire{}
		for i := range 3 {
			a.Expire.Groups = append(a.Expire.Groups, offset.Idle{Group: fmt.Sprintf("g%d", i), Seen: g.base() - g.Uint64N(g.index+1)/2})
		}
	case 6:
		a.Take = &offset.Take{ByBroker: g.IntN(2) == 0, Name: g.group(), Holder: "h"}
		if a.Take.ByBroker {
			a.Take.Name = g.broker()
		}
	default:
		return g.importOp(a)
	}
	if g.p.Import != nil && g.IntN(30) == 0 {
		a.ID = g.p.Import.ID
	}
	return op{act: a}
}

// importOp begins an import, or goes on with the one under way.
func (g *gen) importOp(a *offset.Act) op {
	imp := g.p.Import
	if imp == nil || g.IntN(12) == 0 {
		a.Import = &offset.Import{Mode: offset.ImportMode(g.IntN(2)), Chunks: g.Uint32N(4), Offsets: 9}
		if a.Import.Mode == offset.ImportReplace && g.IntN(2) == 0 {
			a.Import.Group = g.group()
		}
		return op{act: a}
	}
	a.ID = imp.ID
	switch {
	case g.IntN(15) == 0:
		a.Import = &offset.Import{Step: offset.ImportAbort}
	case imp.Next == imp.Chunks || g.IntN(12) == 0:
		a.Base = g.index
		a.Import = &offset.Import{Step: offset.ImportSwap}
	default:
		a.Import = &offset.Import{Step: offset.ImportChunk, Chunk: imp.Next, Targets: g.targets(1 + g.IntN(12))}
		if g.IntN(8) == 0 {
			a.Import.Chunk++
		}
	}
	return op{act: a}
}

// next makes one request up, sends an old one again, or goes on with a cut act.
func (g *gen) next() op {
	if len(g.pending) > 0 && g.IntN(2) == 0 {
		i := g.IntN(len(g.pending))
		o := g.pending[i]
		g.pending = slices.Delete(g.pending, i, i+1)
		return o
	}
	if len(g.old) > 0 && g.IntN(6) == 0 {
		return g.old[g.IntN(len(g.old))]
	}
	var o op
	switch n := g.IntN(10); {
	case n < 5:
		o = g.commits()
	case n < 7:
		o = g.setOp()
	default:
		o = g.actOp()
	}
	g.old = append(g.old, o)
	return o
}

// entry makes an entry of a few requests up; see, for each, gets its answer.
func (g *gen) entry(see func(o op, want answer)) logEntry {
	g.index += 1 + g.Uint64N(2)
	e := logEntry{index: g.index, ms: 1000 + int64(g.index)*10 - g.Int64N(30)}
	g.p.Begin(e.index, e.ms)
	for range 1 + g.IntN(3) {
		o := g.next()
		e.ops = append(e.ops, o)
		want := g.p.apply(o)
		if o.act != nil && o.act.Import == nil && !want.res.Done && want.res.Code == offset.CodeOK {
			g.pending = append(g.pending, op{act: o.act, step: want.res.Next})
		}
		see(o, want)
	}
	return e
}

// seedOf prints the seed of a random test, so that it can be run again.
func seedOf(tb testing.TB) uint64 {
	tb.Helper()
	seed := rand.Uint64()
	tb.Logf("seed %d", seed)
	return seed
}
