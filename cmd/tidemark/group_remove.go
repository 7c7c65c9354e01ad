package main

import (
	"github.com/tidemark-mq/tidemark/offset"
)

// groupRemoveCmd removes offsets of a group.
type groupRemoveCmd struct {
	Group  string  `arg:"" help:"Consumer group, byte for byte."`
	Topic  string  `help:"Only this topic's." placeholder:"TOPIC"`
	Broker *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Queue  string  `help:"Only this queue's; needs --topic and --broker." placeholder:"ID"`
	acting
}

// removeResult is what a removal did or would do.
type removeResult struct {
	Group string `json:"group"`
	// Index is that of the state that was read before.
	Index uint64 `json:"index,string"`
	// Found is how many keys there were; Keys lists the first of them.
	Found    int      `json:"found"`
	Keys     []keyRow `json:"keys"`
	Executed bool     `json:"executed"`
	Removed  uint64   `json:"removed,string"`
	// LeftAlone counts those that another act moved meanwhile, Names the first of them.
	LeftAlone uint64   `json:"leftAlone,string"`
	Names     []string `json:"names,omitempty"`
	ActID     string   `json:"actId,omitempty"`
	ActIndex  uint64   `json:"actIndex,string,omitempty"`
}

func (r *removeResult) table(t *table) {
	if r.Executed {
		t.line("removed %s of group %s at index %d by act %s; %d left alone", plural(r.Removed, "offset", "offsets"), shown(r.Group), r.ActIndex, r.ActID, r.LeftAlone)
		for _, n := range r.Names {
			t.line("left alone: %s", n)
		}
		return
	}
	keysTable(t, r.Keys)
	if more := r.Found - len(r.Keys); more > 0 {
		t.line("and %d more", more)
	}
	t.line("%s of group %s would be removed; nothing was done yet, add --execute, and --expect-index %d to do it only if none of this moves before", plural(r.Found, "offset", "offsets"), shown(r.Group), r.Index)
}

func (c *groupRemoveCmd) scope() (offset.Scope, error) {
	sc := offset.Scope{Group: c.Group, Topic: c.Topic}
	if c.Broker != nil {
		sc.HasBroker, sc.Broker = true, *c.Broker
	}
	if c.Queue != "" {
		id, err := number("queue", c.Queue, 32)
		if err != nil {
			return sc, err
		}
		sc.HasQueue, sc.QueueID = true, int32(id)
	}
	if c.Group == "" {
		return sc, offset.Errorf(offset.ErrInvalid, "the group is empty")
	}
	return sc, sc.Validate()
}

// Run shows what the scope holds, and removes it.
func (c *groupRemoveCmd) Run(s *session) error {
	scope, err := c.scope()
	if err != nil {
		return err
	}
	r := &removeResult{Group: c.Group, Keys: []keyRow{}}
	m, err := c.look(s, scope, r)
	if err != nil {
		return err
	}
	if !c.Execute {
		return s.print(r)
	}
	a := offset.Act{ID: newID(), Base: m.Index, Cluster: m.Cluster, Remove: &offset.Remove{Scope: scope}}
	res, err := s.actOn(a)
	if err != nil {
		return err
	}
	r.Executed, r.Removed, r.LeftAlone, r.ActID, r.ActIndex = true, res.Changed, res.Kept, a.ID.String(), res.Index
	for _, k := range res.Names {
		r.Names = append(r.Names, k.String())
	}
	return s.printPartial(r, res.Kept)
}

// look counts what the scope holds, and lists the first of it.
func (c *groupRemoveCmd) look(s *session, scope offset.Scope, r *removeResult) (m offset.Meta, err error) {
	var first []offset.KeyedState
	err = s.export(keyList(c.Group, c.Topic, c.Broker, offset.ReadAt{}), func(p offset.Page) error {
		m = p.Meta
		for _, k := range p.Keys {
			if scope.HasQueue && k.Key.QueueID != scope.QueueID {
				continue
			}
			if err := c.expect(m.Index, []offset.KeyedState{k}); err != nil {
				return err
			}
			if r.Found++; r.Found <= offset.MaxPage {
				first = append(first, k)
			}
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	r.Index, r.Keys = m.Index, rowsOf(first)
	if err := s.expectNoneGone(c.acting, c.Group, topicsOf(first)); err != nil {
		return m, err
	}
	if r.Found == 0 {
		return m, offset.Errorf(offset.ErrNotFound, "group %s has no offsets there", shown(c.Group))
	}
	return m, nil
}
