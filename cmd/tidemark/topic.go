package main

import (
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// topicCmd holds what concerns topics.
type topicCmd struct {
	List     topicListCmd     `cmd:"" help:"List the names of topics that have offsets."`
	Describe topicDescribeCmd `cmd:"" help:"Show the groups that have offsets of a topic."`
}

// topicListCmd lists topics.
type topicListCmd struct {
	Prefix string `help:"Only topics whose names begin with this." placeholder:"TEXT"`
	Group  string `help:"Only topics of which this group has offsets." placeholder:"GROUP"`
	Limit  int    `help:"At most this many; 0 for all." default:"0"`
	readLevel
}

// topicsResult is a list of names.
type topicsResult struct {
	Index  uint64   `json:"index,string"`
	Topics []string `json:"topics"`
	More   bool     `json:"more"`
}

func (r *topicsResult) table(t *table) {
	for _, name := range r.Topics {
		t.row(shown(name))
	}
}

// Run lists names page by page.
func (c *topicListCmd) Run(s *session) error {
	l := offset.List{At: c.at(), What: offset.ListTopics, Group: c.Group, Prefix: c.Prefix}
	n, err := s.names(l, c.Limit)
	if err != nil {
		return err
	}
	return s.print(&topicsResult{n.index, n.list, n.more})
}

// topicDescribeCmd shows the groups of a topic.
type topicDescribeCmd struct {
	Topic  string  `arg:"" help:"Topic, byte for byte."`
	Broker *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	readLevel
}

// topicGroupRow is what one group has of a topic.
type topicGroupRow struct {
	Group   string `json:"group"`
	Queues  int    `json:"queues"`
	Pending int    `json:"pending"`
	// Lowest and Highest are of its offsets.
	Lowest  int64 `json:"lowest,string"`
	Highest int64 `json:"highest,string"`
	// Changed is when one of its queues moved last.
	Changed string `json:"changed"`

	time int64
	age  time.Duration
}

// topicResult is what all groups have of a topic.
type topicResult struct {
	Topic  string          `json:"topic"`
	Index  uint64          `json:"index,string"`
	Groups []topicGroupRow `json:"groups"`
}

func (r *topicResult) table(t *table) {
	t.line("topic %s: %s, as of index %d", shown(r.Topic), plural(len(r.Groups), "group", "groups"), r.Index)
	t.row("GROUP", "QUEUES", "LOWEST", "HIGHEST", "PENDING", "CHANGED", "AGE")
	for _, g := range r.Groups {
		t.row(shown(g.Group), num(g.Queues), num(g.Lowest), num(g.Highest), num(g.Pending), g.Changed, age(g.age))
	}
}

// Run sums up what each group has; no group is exit code 7.
func (c *topicDescribeCmd) Run(s *session) error {
	if err := offset.ValidateName("topic", c.Topic, false); err != nil {
		return err
	}
	r := &topicResult{Topic: c.Topic}
	m, err := s.listAll(keyList("", c.Topic, c.Broker, c.at()), func(p offset.Page) error {
		for _, k := range p.Keys {
			r.add(k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(r.Groups) == 0 {
		return offset.Errorf(offset.ErrNotFound, "no group has offsets of topic %s there; `tidemark topic list` shows what there is", shown(c.Topic))
	}
	r.Index = m.Index
	for i := range r.Groups {
		g := &r.Groups[i]
		g.Changed, g.age = when(g.time), s.clock().Sub(time.UnixMilli(g.time))
	}
	return s.print(r)
}

// add counts a key; those of one group come one after the other.
func (r *topicResult) add(k offset.KeyedState) {
	n := len(r.Groups)
	if n == 0 || r.Groups[n-1].Group != k.Key.Group {
		r.Groups = append(r.Groups, topicGroupRow{Group: k.Key.Group, Lowest: k.Position.Offset})
		n++
	}
	g := &r.Groups[n-1]
	g.Queues++
	if k.Position.Pending {
		g.Pending++
	}
	g.Lowest, g.Highest = min(g.Lowest, k.Position.Offset), max(g.Highest, k.Position.Offset)
	g.time = max(g.time, k.Position.Time)
}
