package main

import (
	"crypto/rand"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// groupCmd holds what concerns groups.
type groupCmd struct {
	List     groupListCmd     `cmd:"" help:"List the names of groups."`
	Describe groupDescribeCmd `cmd:"" help:"Show all that a group has."`
	Remove   groupRemoveCmd   `cmd:"" help:"Remove a group's offsets, all or some."`
}

// groupListCmd lists groups.
type groupListCmd struct {
	Prefix    string `help:"Only groups whose names begin with this." placeholder:"TEXT" xor:"prefix"`
	Namespace string `help:"Only groups of this namespace, \"NAME%\" before the group." placeholder:"NAME" xor:"prefix"`
	Topic     string `help:"Only groups that have offsets of this topic." placeholder:"TOPIC"`
	Limit     int    `help:"At most so many; 0 for all." default:"0"`
	readLevel
}

// groupsResult is a list of names.
type groupsResult struct {
	Index  uint64   `json:"index,string"`
	Groups []string `json:"groups"`
	More   bool     `json:"more"`
}

func (r *groupsResult) table(t *table) {
	for _, g := range r.Groups {
		t.row(shown(g))
	}
}

// errEnough ends a listing.
var errEnough = fmt.Errorf("enough rows")

// Run lists names page by page.
func (c *groupListCmd) Run(s *session) error {
	if c.Limit < 0 {
		return offset.Errorf(offset.ErrInvalid, "--limit %d is negative", c.Limit)
	}
	prefix := c.Prefix
	if c.Namespace != "" {
		prefix = c.Namespace + "%"
	}
	l := offset.List{At: c.at(), What: offset.ListGroups, Topic: c.Topic, Prefix: prefix, Limit: min(c.Limit, offset.MaxPage)}
	r := &groupsResult{Groups: []string{}}
	_, err := s.listAll(l, func(p offset.Page) error {
		r.Groups, r.Index, r.More = append(r.Groups, p.Names...), p.Meta.Index, p.More
		if c.Limit > 0 && len(r.Groups) >= c.Limit {
			r.More = p.More || len(r.Groups) > c.Limit
			r.Groups = r.Groups[:c.Limit]
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return err
	}
	if r.More {
		s.note("there are more; raise --limit, or narrow the list with --prefix")
	}
	return s.print(r)
}

// groupDescribeCmd shows a group.
type groupDescribeCmd struct {
	Group   string  `arg:"" help:"Consumer group, byte for byte."`
	Topic   string  `help:"Only this topic's." placeholder:"TOPIC"`
	Broker  *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Pending bool    `help:"Only what an operator moved and no commit has followed yet."`
	readLevel
}

// groupResult is all that a group has.
type groupResult struct {
	Group  string   `json:"group"`
	Index  uint64   `json:"index,string"`
	Topics int      `json:"topics"`
	Queues int      `json:"queues"`
	Keys   []keyRow `json:"keys"`
}

func (r *groupResult) table(t *table) {
	t.line("group %s: %s of %s, as of index %d", shown(r.Group), plural(r.Queues, "queue", "queues"), plural(r.Topics, "topic", "topics"), r.Index)
	keysTable(t, r.Keys)
}

// Run shows the group; one that has nothing is exit code 7.
func (c *groupDescribeCmd) Run(s *session) error {
	l := keyList(c.Group, c.Topic, c.Broker, c.at())
	l.Pending = c.Pending
	rows, m, err := s.groupKeys(l, "")
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return offset.Errorf(offset.ErrNotFound, "group %s has no offsets there", shown(c.Group))
	}
	topics := map[string]bool{}
	for _, r := range rows {
		topics[r.Topic] = true
	}
	return s.print(&groupResult{c.Group, m.Index, len(topics), len(rows), rows})
}

// groupRemoveCmd removes offsets of a group.
type groupRemoveCmd struct {
	Group   string  `arg:"" help:"Consumer group, byte for byte."`
	Topic   string  `help:"Only this topic's." placeholder:"TOPIC"`
	Broker  *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Queue   string  `help:"Only this queue's; needs --topic and --broker." placeholder:"ID"`
	Execute bool    `help:"Do it; without, only show what would be removed."`
}

// removeResult is what a removal did or would do.
type removeResult struct {
	Group    string `json:"group"`
	Executed bool   `json:"executed"`
	// Found are the keys before.
	Found   int    `json:"found"`
	Removed uint64 `json:"removed,string"`
	// Kept were left alone since somebody moved them meanwhile.
	Kept  uint64   `json:"kept,string"`
	Index uint64   `json:"index,string"`
	Keys  []keyRow `json:"keys,omitempty"`
}

func (r *removeResult) table(t *table) {
	if r.Executed {
		t.line("removed %s of group %s at index %d; %d left alone", plural(r.Removed, "offset", "offsets"), shown(r.Group), r.Index, r.Kept)
		return
	}
	keysTable(t, r.Keys)
	t.line("%s of group %s would be removed; nothing was done yet, add --execute", plural(r.Found, "offset", "offsets"), shown(r.Group))
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
	rows, m, err := s.groupKeys(keyList(c.Group, c.Topic, c.Broker, offset.ReadAt{}), c.Queue)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return offset.Errorf(offset.ErrNotFound, "group %s has no offsets there", shown(c.Group))
	}
	r := &removeResult{Group: c.Group, Found: len(rows)}
	if !c.Execute {
		r.Keys = rows
		return s.print(r)
	}
	res, err := s.act(offset.Act{Base: m.Index, Cluster: m.Cluster, Remove: &offset.Remove{Scope: scope}})
	if err != nil {
		return err
	}
	r.Executed, r.Removed, r.Kept, r.Index = true, res.Changed, res.Kept, res.Index
	if err := s.print(r); err != nil {
		return err
	}
	if res.Kept > 0 {
		return exitf(exitPartial, "%d offsets were left alone since they were moved meanwhile; look at the group again", res.Kept)
	}
	return nil
}

// act sends an act with an id of its own.
func (s *session) act(a offset.Act) (offset.ActResult, error) {
	if a.ID.IsZero() {
		a.ID = newID()
	}
	ctx, cancel := s.call()
	defer cancel()
	r, _, err := s.Act(ctx, a)
	return r, err
}

// newID draws the id of an act.
func newID() (id offset.ActID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}
