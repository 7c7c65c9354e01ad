package main

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// groupResetCmd moves queues of a group by one act. Just one of the forms is given.
type groupResetCmd struct {
	Group      string `arg:"" help:"Consumer group, byte for byte."`
	ToOffset   *int64 `help:"Each queue to this offset." placeholder:"OFFSET" xor:"form"`
	ToEarliest bool   `help:"Each queue to the oldest message that its broker has; needs --rocketmq." xor:"form"`
	ToLatest   bool   `help:"Each queue to the position after the newest message that its broker has; needs --rocketmq." xor:"form"`
	ToTime     string `help:"Each queue to its first message stored at this time or later: a date such as 2026-11-29T20:00:00Z, Unix milliseconds, now, or how long ago (90m, 30d); needs --rocketmq." placeholder:"TIME" xor:"form"`
	ShiftBy    *int64 `help:"Each queue by this many messages, back if negative; not below 0." placeholder:"N" xor:"form"`
	FromFile   string `help:"The queues that a file (consumerOffset.json or CSV) has of this group, to what it says." type:"path" placeholder:"FILE" xor:"form"`
	FromGroup  string `help:"The queues that another group has, to what it has." placeholder:"GROUP" xor:"form"`
	selection
	askRocketMQ
	acting
}

// Run shows what would move, or moves it.
func (c *groupResetCmd) Run(s *session) error {
	if err := c.validate(); err != nil {
		return err
	}
	ends, err := c.ends(s)
	if err != nil {
		return err
	}
	defer ends.close()
	m, err := c.moves(s, ends)
	if err != nil {
		return err
	}
	if ends != nil {
		if err := ends.hold(s, m); err != nil {
			return err
		}
	}
	return s.move(m)
}

func (c *groupResetCmd) validate() error {
	switch {
	case c.ToOffset == nil && c.ShiftBy == nil && !c.ToEarliest && !c.ToLatest && c.ToTime == "" && c.FromFile == "" && c.FromGroup == "":
		return exitf(exitUsage, "say where to move the group: one of --to-offset, --shift-by, --to-earliest, --to-latest, --to-time, --from-file, --from-group (see \"tidemark group reset --help\")")
	case c.ToOffset != nil && *c.ToOffset < 0:
		return offset.Errorf(offset.ErrInvalid, "--to-offset %d is negative; offsets are 0 or more", *c.ToOffset)
	case c.RocketMQ == "" && (c.ToEarliest || c.ToLatest || c.ToTime != ""):
		return exitf(exitUsage, "only a broker knows where its queues begin and end: add --rocketmq HOST:PORT, a name server or the broker")
	case c.FromGroup == c.Group:
		return offset.Errorf(offset.ErrInvalid, "--from-group names the group itself")
	}
	if c.FromGroup != "" {
		if err := offset.ValidateName("--from-group", c.FromGroup, false); err != nil {
			return err
		}
	}
	return c.check(c.Group)
}

// moves finds out what moves where.
func (c *groupResetCmd) moves(s *session, ends *ends) (*moves, error) {
	switch {
	case c.FromFile != "":
		return c.fromFile(s)
	case c.FromGroup != "":
		return c.fromGroup(s)
	}
	states, meta, err := s.selected(c.Group, &c.selection)
	if err != nil {
		return nil, err
	}
	what, to, err := c.form(s, ends)
	if err != nil {
		return nil, err
	}
	m := &moves{acting: c.acting, group: c.Group, what: what, states: states, meta: meta, notes: map[offset.Key]string{}}
	bar := s.bar("finding offsets", len(states))
	defer bar.Clear()
	for _, st := range states {
		_ = bar.Add(1) // a bar that does not draw is no reason to stop
		n, note, err := to(st)
		if err != nil {
			return nil, err
		}
		m.targets = append(m.targets, offset.Target{Key: st.Key, Offset: n})
		if note != "" {
			m.notes[st.Key] = note
		}
	}
	return m, nil
}

// destination gives where a queue moves, and what there is to say of it.
type destination func(offset.KeyedState) (int64, string, error)

// form is what the flags ask for, in words and as a rule for each queue.
func (c *groupResetCmd) form(s *session, ends *ends) (what string, to destination, err error) {
	switch {
	case c.ToOffset != nil:
		return fmt.Sprintf("reset to the offset %d", *c.ToOffset), func(offset.KeyedState) (int64, string, error) { return *c.ToOffset, "", nil }, nil
	case c.ShiftBy != nil:
		return fmt.Sprintf("reset by %+d", *c.ShiftBy), shifted(*c.ShiftBy), nil
	case c.ToEarliest:
		return "reset to the earliest message", ends.to(s, ends.MinOffset), nil
	case c.ToLatest:
		return "reset to the end", ends.to(s, ends.MaxOffset), nil
	}
	at, err := moment("--to-time", c.ToTime, s.clock())
	if err != nil {
		return "", nil, err
	}
	return "reset to the first message of " + when(at.UnixMilli()) + " or later", ends.toTime(s, at), nil
}

// shifted moves by n, as far as numbers go.
func shifted(n int64) destination {
	return func(st offset.KeyedState) (int64, string, error) {
		switch from := st.Position.Offset; {
		case n < 0 && from+n < 0:
			return 0, "held at 0", nil
		case n > math.MaxInt64-from:
			return math.MaxInt64, "held at the largest offset", nil
		default:
			return from + n, "", nil
		}
	}
}

// fromFile are the moves to what a file says of the group.
func (c *groupResetCmd) fromFile(s *session) (*moves, error) {
	o := offsetfile.Options{Group: c.Group}
	if c.Broker != nil {
		o.Broker = *c.Broker
	}
	f, err := offsetfile.ReadPath(c.FromFile, o)
	if err != nil {
		return nil, err
	}
	if n := f.Report.SkippedTotal; n > 0 {
		s.note("%s of the file left out; `tidemark import %q` lists them", plural(n, "place is", "places are"), c.FromFile)
	}
	var targets []offset.Target
	for t := range f.OfGroup(c.Group).All() {
		if c.has(t.Key.MessageQueue) {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return nil, offset.Errorf(offset.ErrNotFound, "the file has no offsets of group %s there; `tidemark import %q` shows what it has", shown(c.Group), c.FromFile)
	}
	return c.explicit(s, "reset to what the file has", targets)
}

// fromGroup are the moves to what another group has.
func (c *groupResetCmd) fromGroup(s *session) (*moves, error) {
	states, meta, err := s.selected(c.FromGroup, &c.selection)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(c.expect(meta.Index, states), s.expectNoneGone(c.acting, c.FromGroup, topicsOf(states))); err != nil {
		return nil, err
	}
	targets := make([]offset.Target, len(states))
	for i, st := range states {
		targets[i] = offset.Target{Key: offset.Key{Group: c.Group, MessageQueue: st.Key.MessageQueue}, Offset: st.Position.Offset}
	}
	return c.explicit(s, "reset to what group "+shown(c.FromGroup)+" has", targets)
}

func (c *groupResetCmd) explicit(s *session, what string, targets []offset.Target) (*moves, error) {
	m, err := s.movesTo(c.Group, what, targets)
	if err != nil {
		return nil, err
	}
	m.acting, m.notes = c.acting, map[offset.Key]string{}
	return m, nil
}
