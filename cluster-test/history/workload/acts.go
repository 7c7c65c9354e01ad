package workload

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// newAct makes an act with a base that is as old as what the client was told
// last; some are read just before.
func (c *client) newAct(ctx context.Context) *offset.Act {
	if c.IntN(2) == 0 {
		c.look(ctx)
	}
	a := &offset.Act{Base: c.index, Cluster: c.cluster, Claim: c.through()}
	for i := range a.ID {
		a.ID[i] = byte(c.Uint32())
	}
	return a
}

// act sends an act until it is answered, as far as that helps.
func (c *client) act(ctx context.Context, a *offset.Act) *record.Op {
	o := c.insist(ctx, record.Op{Act: a})
	if a.Import == nil {
		c.late = append(c.late, o)[max(0, len(c.late)-20):]
	}
	return o
}

func (c *client) targets(keys []offset.Key) (list []offset.Target) {
	for _, k := range keys {
		list = append(list, offset.Target{Key: k, Offset: c.anywhere()})
	}
	slices.SortFunc(list, offset.Target.Compare)
	return list
}

func (c *client) reset(ctx context.Context) {
	a := c.newAct(ctx)
	a.Reset = &offset.Reset{Targets: c.targets(c.keys(6))}
	c.act(ctx, a)
}

func (c *client) remove(ctx context.Context) {
	a := c.newAct(ctx)
	k := c.key()
	s := offset.Scope{Group: k.Group, Topic: k.Topic}
	switch c.IntN(6) {
	case 0:
		s.Topic = "" // the whole group
	case 1:
		s.Group = "" // the topic in all groups
	case 2, 3:
		s.HasBroker, s.Broker, s.HasQueue, s.QueueID = true, k.Broker, true, k.QueueID
	case 4:
		s.HasBroker, s.Broker = true, k.Broker
	}
	a.Remove = &offset.Remove{Scope: s}
	c.act(ctx, a)
}

func (c *client) clone(ctx context.Context) {
	a := c.newAct(ctx)
	from := c.IntN(groups)
	a.Clone = &offset.Clone{From: Group(c.generation, from), To: Group(c.generation, (from+1+c.IntN(groups-1))%groups)}
	if c.IntN(2) == 0 {
		a.Clone.Topic = c.topic()
	}
	if c.IntN(2) == 0 {
		a.Clone.HasBroker, a.Clone.Broker = true, c.broker()
	}
	c.act(ctx, a)
}

// expire expires a group that has not moved since the client looked.
func (c *client) expire(ctx context.Context) {
	a := c.newAct(ctx)
	a.Expire = &offset.Expire{}
	for n := range groups {
		if c.IntN(2) == 0 {
			a.Expire.Groups = append(a.Expire.Groups, offset.Idle{Group: Group(c.generation, n), Seen: c.index})
		}
	}
	if len(a.Expire.Groups) > 0 {
		c.act(ctx, a)
	}
}

func (c *client) claim(ctx context.Context) {
	a := c.newAct(ctx)
	a.Claim = 0
	a.Take = &offset.Take{Name: c.group(), Holder: "somebody"}
	if c.IntN(4) == 0 {
		a.Take.ByBroker, a.Take.Name = true, "b"
	}
	if o := c.act(ctx, a); o.Answered() && o.Result.Code == offset.CodeOK {
		c.claims = append(c.claims, o.Result.Index)[max(0, len(c.claims)-3):]
	}
}

// steps sends the steps of an import, which others may make busy or abort.
func (c *client) steps(ctx context.Context, begin *offset.Act, chunks [][]offset.Target) {
	begin.Import.Chunks = uint32(len(chunks))
	begin.Import.Hash = sha256.Sum256(begin.ID[:]) // of no file, and its own
	for _, t := range chunks {
		begin.Import.Offsets += uint64(len(t))
	}
	o := c.act(ctx, begin)
	if o.Answered() && o.Result.Code == offset.CodeImportBusy && c.IntN(4) == 0 {
		c.abortOther(ctx, begin.Base)
	}
	if !o.Answered() || o.Result.Code != offset.CodeOK {
		return
	}
	step := func(kind offset.ImportStep, base uint64, number int, targets []offset.Target) *record.Op {
		a := *begin
		a.Base = base
		a.Import = &offset.Import{Step: kind, Mode: begin.Import.Mode, Group: begin.Import.Group, Chunk: uint32(number), Targets: targets}
		return c.insist(ctx, record.Op{Act: &a, Begun: begin})
	}
	for i, t := range chunks {
		if o := step(offset.ImportChunk, begin.Base, i, t); !o.Answered() || o.Result.Code != offset.CodeOK {
			step(offset.ImportAbort, begin.Base, 0, nil)
			return
		}
	}
	if begin.Import.Mode == offset.ImportMerge {
		return
	}
	for range 8 { // until no act comes in between
		c.look(ctx)
		if o := step(offset.ImportSwap, c.index, 0, nil); !o.Answered() || o.Result.Code != offset.CodeSuperseded {
			return
		}
	}
	step(offset.ImportAbort, begin.Base, 0, nil)
}

// abortOther aborts whatever import is under way: who began it may have given up.
func (c *client) abortOther(ctx context.Context, base uint64) {
	call, cancel := context.WithTimeout(ctx, c.load.config.Patience)
	defer cancel()
	s, err := c.load.arena.Node(c.node()).Status(call)
	if err != nil || s.Import == nil {
		return
	}
	a := &offset.Act{ID: s.Import.ID, Base: base, Cluster: c.cluster, Import: &offset.Import{Step: offset.ImportAbort, Mode: s.Import.Mode, Group: s.Import.Group}}
	c.insist(ctx, record.Op{Act: a})
}

func (c *client) merge(ctx context.Context) {
	a := c.newAct(ctx)
	a.Import = &offset.Import{Mode: offset.ImportMerge}
	chunks := [][]offset.Target{c.targets(c.keys(6))}
	if c.IntN(2) == 0 {
		chunks = append(chunks, c.targets(c.keys(6)))
	}
	c.steps(ctx, a, chunks)
}

func (c *client) replaceGroup(ctx context.Context) {
	a := c.newAct(ctx)
	g := c.group()
	a.Import = &offset.Import{Mode: offset.ImportReplace, Group: g}
	var keys []offset.Key
	for _, k := range c.keys(8) {
		if k.Group = g; !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	c.steps(ctx, a, [][]offset.Target{c.targets(keys)})
}

func (c *client) replaceAll(ctx context.Context) {
	a := c.newAct(ctx)
	a.Import = &offset.Import{Mode: offset.ImportReplace}
	c.steps(ctx, a, [][]offset.Target{c.targets(c.keys(12)), c.targets(c.keys(12))})
}
