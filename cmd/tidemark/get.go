package main

import (
	"github.com/tidemark-mq/tidemark/offset"
)

// getCmd shows offsets.
type getCmd struct {
	Group  string  `arg:"" help:"Consumer group, byte for byte."`
	Topic  string  `arg:"" optional:"" help:"Topic; all of the group's if not given."`
	Queue  string  `arg:"" optional:"" help:"Queue id; all of the topic's if not given."`
	Broker *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	readLevel
}

// keysResult is a list of keys of one group.
type keysResult struct {
	Group string   `json:"group"`
	Index uint64   `json:"index,string"`
	Keys  []keyRow `json:"keys"`
}

func (r *keysResult) table(t *table) { keysTable(t, r.Keys) }

// Run shows the keys that the arguments select; none is exit code 7.
func (c *getCmd) Run(s *session) error {
	states, m, err := s.groupKeys(c.list(), c.Queue)
	if err != nil {
		return err
	}
	switch {
	case len(states) == 0 && c.Topic == "" && c.Broker == nil:
		return offset.Errorf(offset.ErrNoOffset, "group %s has none at all; \"tidemark group list\" shows which groups there are", shown(c.Group))
	case len(states) == 0:
		return offset.Errorf(offset.ErrNoOffset, "group %s has committed nothing there; \"tidemark group describe\" shows what it has", shown(c.Group))
	}
	return s.print(&keysResult{c.Group, m.Index, rowsOf(states)})
}

func (c *getCmd) list() offset.List {
	return keyList(c.Group, c.Topic, c.Broker, c.at())
}

// keyList lists the keys of a group; topic and broker narrow it.
func keyList(group, topic string, broker *string, at offset.ReadAt) offset.List {
	l := offset.List{At: at, What: offset.ListKeys, Group: group, Topic: topic}
	if broker != nil {
		l.HasBroker, l.Broker = true, *broker
	}
	return l
}

// groupKeys reads the keys that a list selects, of one queue id or, if it is
// empty, of all.
func (s *session) groupKeys(l offset.List, queue string) (states []offset.KeyedState, m offset.Meta, err error) {
	id := int64(-1)
	if queue != "" {
		if id, err = number("queue", queue, 32); err != nil {
			return nil, m, err
		}
	}
	if err := offset.ValidateName("group", l.Group, false); err != nil {
		return nil, m, err
	}
	m, err = s.listAll(l, func(p offset.Page) error {
		for _, k := range p.Keys {
			if id < 0 || int64(k.Key.QueueID) == id {
				states = append(states, k)
			}
		}
		return nil
	})
	return states, m, err
}
