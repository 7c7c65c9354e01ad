package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// groupExpireCmd removes groups that have not moved for long.
type groupExpireCmd struct {
	UnmovedSince string   `help:"Groups of which no offset has moved since: a date such as 2026-11-29T20:00:00Z, Unix milliseconds, or how long ago (36h, 30d)." placeholder:"TIME" required:""`
	Prefix       string   `help:"Only groups whose names begin with this." placeholder:"TEXT"`
	Without      []string `help:"Leave this group out; may be given more than once." placeholder:"GROUP" sep:"none"`
	Limit        int      `help:"At most this many groups, those that have not moved for longest; 1 to 10000." default:"1000" placeholder:"N"`
	execute
}

// idleRow is a group that has not moved for long.
type idleRow struct {
	Group  string `json:"group"`
	Queues int    `json:"queues"`
	// Seen is the highest index of its keys, Changed the time of it.
	Seen    uint64 `json:"seen,string"`
	Changed string `json:"changed"`
	// Outcome is "removed" or "left alone"; empty where nothing was done.
	Outcome string `json:"outcome,omitempty"`

	time int64
	age  time.Duration
}

// expireResult is what an expiry did or would do.
type expireResult struct {
	Since string `json:"since"`
	Index uint64 `json:"index,string"`
	// Found is how many groups have not moved, Groups those that are listed.
	Found    int       `json:"found"`
	Groups   []idleRow `json:"groups"`
	Executed bool      `json:"executed"`
	// Removed counts offsets, LeftAlone groups that moved meanwhile.
	Removed   uint64 `json:"removed,string"`
	LeftAlone uint64 `json:"leftAlone,string"`
	ActID     string `json:"actId,omitempty"`
	ActIndex  uint64 `json:"actIndex,string,omitempty"`
}

func (r *expireResult) table(t *table) {
	t.line("%s not moved since %s, as of index %d", plural(r.Found, "group has", "groups have"), r.Since, r.Index)
	if len(r.Groups) > 0 {
		t.row("GROUP", "QUEUES", "INDEX", "CHANGED", "AGE", "")
	}
	for _, g := range r.Groups {
		t.row(shown(g.Group), num(g.Queues), num(g.Seen), g.Changed, age(g.age), g.Outcome)
	}
	if more := r.Found - len(r.Groups); more > 0 {
		t.line("and %d more, which moved later; run it again for them, or raise --limit", more)
	}
	switch {
	case r.Executed:
		t.line("removed %s of %s at index %d by act %s; %s left alone", plural(r.Removed, "offset", "offsets"), plural(uint64(len(r.Groups))-r.LeftAlone, "group", "groups"), r.ActIndex, r.ActID, plural(r.LeftAlone, "group", "groups"))
	case len(r.Groups) > 0:
		t.line("%s would be removed; nothing was done yet, add --execute", plural(len(r.Groups), "group", "groups"))
	}
}

// Run lists the groups, and removes those that have not moved since.
func (c *groupExpireCmd) Run(s *session) error {
	if c.Limit < 1 || c.Limit > offset.MaxCommits {
		return offset.Errorf(offset.ErrInvalid, "--limit %d is not within 1 to %d", c.Limit, offset.MaxCommits)
	}
	since, now, err := c.times(s)
	if err != nil {
		return err
	}
	if since.After(now) {
		return offset.Errorf(offset.ErrInvalid, "--unmoved-since %q is still to come: no group can have moved since then, however busy it is", c.UnmovedSince)
	}
	r, m, err := c.look(s, since, now)
	if err != nil {
		return err
	}
	if !c.Execute || len(r.Groups) == 0 {
		return s.print(r)
	}
	list := make([]offset.Idle, len(r.Groups))
	for i, g := range r.Groups {
		list[i] = offset.Idle{Group: g.Group, Seen: g.Seen}
	}
	a := offset.Act{ID: newID(), Base: m.Index, Cluster: m.Cluster, Expire: &offset.Expire{Groups: list}}
	res, err := s.act(a)
	if err != nil {
		return narrower(err, "lower --limit")
	}
	r.done(a.ID, res)
	if err := s.print(r); err != nil {
		return err
	}
	if res.Kept > 0 {
		return exitf(exitPartial, "%s left alone, having moved meanwhile", plural(res.Kept, "group was", "groups were"))
	}
	return nil
}

// done notes the answer to the act, which names the first groups that it left alone.
func (r *expireResult) done(id offset.ActID, res offset.ActResult) {
	r.Executed, r.Removed, r.LeftAlone, r.ActID, r.ActIndex = true, res.Changed, res.Kept, id.String(), res.Index
	left := make(map[string]bool, len(res.Names))
	for _, k := range res.Names {
		left[k.Group] = true
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		switch {
		case left[g.Group]:
			g.Outcome = leftAlone
		case uint64(len(left)) == res.Kept:
			g.Outcome = "removed"
		}
	}
}

// times are the one that is asked for and the present, both by the leader's
// clock, which stamps what moves: by a clock that is ahead of it, all groups
// would not have moved for long.
func (c *groupExpireCmd) times(s *session) (since, now time.Time, err error) {
	now = s.clock()
	if _, err = moment("--unmoved-since", c.UnmovedSince, now); err != nil {
		return since, now, err
	}
	st, err := s.leaderStatus()
	if err != nil {
		return since, now, err
	}
	if st.Vitals.Clock > 0 { // a member of an older build does not tell it
		now = time.UnixMilli(st.Vitals.Clock)
	}
	since, err = moment("--unmoved-since", c.UnmovedSince, now)
	return since, now, err
}

// look finds the groups in which nothing has moved since.
func (c *groupExpireCmd) look(s *session, since, now time.Time) (*expireResult, offset.Meta, error) {
	r := &expireResult{Since: when(since.UnixMilli()), Groups: []idleRow{}}
	var (
		m offset.Meta
		g idleRow
	)
	end := func() {
		if g.Queues > 0 && g.time < since.UnixMilli() && c.wants(g.Group) {
			r.Found++
			r.Groups = append(r.Groups, g)
		}
		if len(r.Groups) >= 2*c.Limit {
			r.keep(c.Limit)
		}
	}
	count := s.counter("looking at offsets")
	defer count.Clear()
	err := s.export(offset.List{What: offset.ListKeys}, func(p offset.Page) error {
		m = p.Meta
		_ = count.Add(len(p.Keys)) // a counter that does not draw is no reason to stop
		for _, k := range p.Keys {
			if k.Key.Group != g.Group {
				end()
				g = idleRow{Group: k.Key.Group}
			}
			g.Queues++
			g.Seen, g.time = max(g.Seen, k.Position.Index), max(g.time, k.Position.Time)
		}
		return nil
	})
	end()
	r.keep(c.Limit)
	r.Index = m.Index
	for i := range r.Groups {
		x := &r.Groups[i]
		x.Changed, x.age = when(x.time), now.Sub(time.UnixMilli(x.time))
	}
	return r, m, err
}

// wants tells whether the flags let a group go.
func (c *groupExpireCmd) wants(group string) bool {
	return strings.HasPrefix(group, c.Prefix) && !slices.Contains(c.Without, group)
}

// keep drops all but the n groups that have not moved for longest.
func (r *expireResult) keep(n int) {
	slices.SortFunc(r.Groups, func(a, b idleRow) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.Seen, b.Seen), cmp.Compare(a.Group, b.Group))
	})
	r.Groups = r.Groups[:min(n, len(r.Groups))]
}
