package main

import (
	"cmp"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// groupCloneCmd copies what one group has over another.
type groupCloneCmd struct {
	From      string  `arg:"" help:"Group to copy from, byte for byte."`
	To        string  `arg:"" help:"Group to copy to; anything else that it has stays."`
	Topic     string  `help:"Only this topic's." placeholder:"TOPIC"`
	Broker    *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Overwrite bool    `help:"Also where the other group has an offset already; without this, that is refused."`
	acting
}

// cloneResult is what a clone did or would do.
type cloneResult struct {
	movesResult
	From string `json:"from"`
	// Overwrites counts the queues of which the other group has an offset already.
	Overwrites int `json:"overwrites"`
	overwrite  bool
}

func (r *cloneResult) table(t *table) {
	r.movesResult.table(t)
	if r.Overwrites > 0 && !r.Executed && !r.overwrite {
		t.line("%s has an offset already for %s; that is refused without --overwrite", shown(r.Group), plural(r.Overwrites, "queue", "queues"))
	}
}

// Run shows what would be copied, or copies it, by one act.
func (c *groupCloneCmd) Run(s *session) error {
	cl := &offset.Clone{From: c.From, To: c.To, Topic: c.Topic}
	if c.Broker != nil {
		cl.HasBroker, cl.Broker = true, *c.Broker
	}
	a := offset.Act{ID: newID(), Clone: cl}
	p := &cloning{groupCloneCmd: c, s: s}
	p.result.movesResult = movesResult{Group: c.To, What: "cloned from " + shown(c.From), Keys: []move{}, verb: "copied"}
	p.result.From, p.result.overwrite = c.From, c.Overwrite
	m, err := p.look()
	if err != nil {
		return err
	}
	a.Base, a.Cluster = m.Index, m.Cluster
	if err := a.Validate(); err != nil {
		return err
	}
	r := &p.result
	switch {
	case !c.Execute:
		return s.print(r)
	case r.Overwrites > 0 && !c.Overwrite:
		return exitf(exitRefused, "group %s has an offset already for %s, which the clone would overwrite; look at it without --execute, and add --overwrite if that is what you want", shown(c.To), plural(r.Overwrites, "queue", "queues"))
	}
	res, err := s.actOn(a)
	if err != nil {
		return err
	}
	r.done(a.ID, res)
	if err := s.outcomes(&r.movesResult, p.states, res); err != nil {
		return err
	}
	return s.printPartial(r, res.Kept)
}

// cloning is the look at two groups before a clone.
type cloning struct {
	*groupCloneCmd
	s      *session
	result cloneResult
	// states are those of the first keys of the other group, as listed.
	states []offset.KeyedState
}

// look compares what the groups have, page by page.
func (p *cloning) look() (m offset.Meta, err error) {
	if err := cmp.Or(offset.ValidateName("source group", p.From, false), offset.ValidateName("destination group", p.To, false)); err != nil {
		return m, err
	}
	err = p.s.export(keyList(p.From, p.Topic, p.Broker, offset.ReadAt{}), func(page offset.Page) error {
		m = page.Meta
		if len(page.Keys) == 0 {
			return nil
		}
		return p.page(page)
	})
	switch {
	case err != nil:
		return m, err
	case p.result.Queues == 0:
		return m, offset.Errorf(offset.ErrNotFound, "group %s has no offsets there", shown(p.From))
	}
	p.result.Index = m.Index
	return m, cmp.Or(p.s.expectNoneGone(p.acting, p.From, topicsOf(p.states)), p.s.expectNoneGone(p.acting, p.To, nil))
}

// page compares one page of the source with what the other group has.
func (p *cloning) page(page offset.Page) error {
	if err := p.expect(page.Meta.Index, page.Keys); err != nil {
		return err
	}
	keys := make([]offset.Key, len(page.Keys))
	for i := range page.Keys {
		keys[i] = offset.Key{Group: p.To, MessageQueue: page.Keys[i].Key.MessageQueue}
	}
	states, _, err := p.s.fetchAll(keys...)
	if err != nil {
		return fmt.Errorf("reading group %s: %w", shown(p.To), err)
	}
	for i, st := range states {
		if err := p.add(page.Meta.Index, offset.KeyedState{Key: keys[i], KeyState: st}, page.Keys[i].Position.Offset); err != nil {
			return err
		}
	}
	return nil
}

// add counts one queue, and lists it if it is among the first.
func (p *cloning) add(index uint64, st offset.KeyedState, to int64) error {
	if err := p.expect(index, []offset.KeyedState{st}); err != nil {
		return err
	}
	r := &p.result
	if r.Queues++; r.Queues <= offset.MaxPage {
		r.Keys, p.states = append(r.Keys, moveOf(st, to, "")), append(p.states, st)
	}
	if st.Exists {
		r.Overwrites++
	}
	return nil
}
