package main

import "github.com/tidemark-mq/tidemark/offset"

// groupListCmd lists groups.
type groupListCmd struct {
	Prefix    string `help:"Only groups whose names begin with this." placeholder:"TEXT" xor:"prefix"`
	Namespace string `help:"Only groups of this namespace, \"NAME%\" before the group." placeholder:"NAME" xor:"prefix"`
	Topic     string `help:"Only groups that have offsets of this topic." placeholder:"TOPIC"`
	Limit     int    `help:"At most this many; 0 for all." default:"0"`
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

// Run lists names page by page.
func (c *groupListCmd) Run(s *session) error {
	prefix := c.Prefix
	if c.Namespace != "" {
		prefix = c.Namespace + "%"
	}
	n, err := s.names(offset.List{At: c.at(), What: offset.ListGroups, Topic: c.Topic, Prefix: prefix}, c.Limit)
	if err != nil {
		return err
	}
	return s.print(&groupsResult{n.index, n.list, n.more})
}
