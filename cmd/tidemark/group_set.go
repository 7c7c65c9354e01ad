package main

import (
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// groupSetCmd gives queues of a group explicit offsets.
type groupSetCmd struct {
	Group     string   `arg:"" help:"Consumer group, byte for byte."`
	Positions []string `arg:"" name:"topic:queue=offset" help:"What to set, such as orders:0=42; a queue without an offset gets one. Read from the end, so a topic may hold \":\" and \"=\"."`
	Broker    string   `help:"Broker name of the queues; empty for none." placeholder:"NAME"`
	acting
}

// Run shows what would be set, or sets it, by one act.
func (c *groupSetCmd) Run(s *session) error {
	targets := make([]offset.Target, len(c.Positions))
	for i, text := range c.Positions {
		var err error
		if targets[i], err = c.target(text); err != nil {
			return err
		}
	}
	m, err := s.movesTo(c.Group, "set", targets)
	if err != nil {
		return err
	}
	m.acting = c.acting
	return s.move(m)
}

// target reads one position.
func (c *groupSetCmd) target(text string) (t offset.Target, err error) {
	wrong := offset.Errorf(offset.ErrInvalid, "%q is not TOPIC:QUEUE=OFFSET, such as orders:0=42", text)
	eq := strings.LastIndexByte(text, '=')
	if eq < 0 {
		return t, wrong
	}
	colon := strings.LastIndexByte(text[:eq], ':')
	if colon < 0 {
		return t, wrong
	}
	id, err := number("queue", text[colon+1:eq], 32)
	if err != nil {
		return t, err
	}
	if t.Offset, err = number("offset", text[eq+1:], 64); err != nil {
		return t, err
	}
	t.Key = offset.Key{Group: c.Group, MessageQueue: offset.MessageQueue{Topic: text[:colon], Broker: c.Broker, QueueID: int32(id)}}
	return t, t.Key.Validate()
}
