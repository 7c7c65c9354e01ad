package main

import (
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// selection narrows a command to some queues of a group.
type selection struct {
	Topic  []string `help:"Only this topic; may be given more than once." placeholder:"TOPIC" sep:"none"`
	Broker *string  `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Queue  []int32  `help:"Only this queue of each topic; may be given more than once." placeholder:"ID"`
}

// check refuses names and numbers that no key has.
func (s *selection) check(group string) error {
	if err := offset.ValidateName("group", group, false); err != nil {
		return err
	}
	for _, t := range s.Topic {
		if err := offset.ValidateName("--topic", t, false); err != nil {
			return err
		}
	}
	for _, q := range s.Queue {
		if q < 0 {
			return offset.Errorf(offset.ErrInvalid, "--queue %d is negative; 0 is the least", q)
		}
	}
	if s.Broker != nil {
		return offset.ValidateName("--broker", *s.Broker, true)
	}
	return nil
}

// has tells whether a queue is selected.
func (s *selection) has(mq offset.MessageQueue) bool {
	return (len(s.Topic) == 0 || slices.Contains(s.Topic, mq.Topic)) &&
		(s.Broker == nil || *s.Broker == mq.Broker) &&
		(len(s.Queue) == 0 || slices.Contains(s.Queue, mq.QueueID))
}

// list asks for what is selected of a group, as far as a listing can narrow.
func (s *selection) list(group string) offset.List {
	topic := ""
	if len(s.Topic) == 1 {
		topic = s.Topic[0]
	}
	return keyList(group, topic, s.Broker, offset.ReadAt{})
}

// errTooMany is told of a selection that one act does not take.
func errTooMany(group string) error {
	return offset.Errorf(offset.ErrInvalid, "more than %d queues of group %s are selected, which is the most that one act moves; narrow them with --topic, --broker or --queue", offset.MaxCommits, shown(group))
}

// selected reads what is selected of a group, all from one root; none is
// nothing found, and more than an act takes is refused.
func (s *session) selected(group string, sel *selection) (states []offset.KeyedState, m offset.Meta, err error) {
	err = s.export(sel.list(group), func(p offset.Page) error {
		m = p.Meta
		for _, k := range p.Keys {
			if sel.has(k.Key.MessageQueue) {
				states = append(states, k)
			}
		}
		if len(states) > offset.MaxCommits {
			return errTooMany(group)
		}
		return nil
	})
	if err == nil && len(states) == 0 {
		err = offset.Errorf(offset.ErrNotFound, "group %s has no offsets there", shown(group))
	}
	return states, m, err
}
