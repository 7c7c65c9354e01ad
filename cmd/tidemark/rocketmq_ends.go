package main

import (
	"context"
	"io"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/rocketmq"
)

// brokers is what commands ask RocketMQ's brokers.
type brokers interface {
	rocketmq.Ends
	tables
	io.Closer
}

// opener finds out what answers at an address.
type opener func(ctx context.Context, addr string) (brokers, error)

// ends tells where queues begin and end; nil where no broker was named.
type ends struct{ brokers }

// askRocketMQ is the flag that lets a command ask brokers.
type askRocketMQ struct {
	RocketMQ string `name:"rocketmq" help:"A name server or broker of RocketMQ to ask where queues begin and end." placeholder:"HOST:PORT"`
}

// ends connects to what --rocketmq names.
func (a askRocketMQ) ends(s *session) (*ends, error) {
	if a.RocketMQ == "" {
		return nil, nil
	}
	b, err := s.openAt(a.RocketMQ)
	if err != nil {
		return nil, ofBrokers(err)
	}
	return &ends{b}, nil
}

// ofBrokers names the flag in an error that RocketMQ's side gave.
func ofBrokers(err error) error { return brokerError("--rocketmq", err) }

func (e *ends) close() {
	if e != nil {
		_ = e.Close() // nothing was sent that could be lost
	}
}

// to moves each queue to what ask gives of it.
func (e *ends) to(s *session, ask func(context.Context, offset.MessageQueue) (int64, error)) destination {
	return func(st offset.KeyedState) (int64, string, error) {
		n, err := s.askBroker(st.Key, ask)
		return n, "", err
	}
}

// toTime moves each queue to its first message of a time or later.
func (e *ends) toTime(s *session, at time.Time) destination {
	return e.to(s, func(ctx context.Context, mq offset.MessageQueue) (int64, error) { return e.SearchOffset(ctx, mq, at) })
}

// askBroker asks one thing of a queue's broker, within the time of a call.
func (s *session) askBroker(k offset.Key, ask func(context.Context, offset.MessageQueue) (int64, error)) (int64, error) {
	ctx, cancel := s.call()
	defer cancel()
	n, err := ask(ctx, k.MessageQueue)
	if err != nil {
		return 0, ofBrokers(err)
	}
	return n, nil
}

// hold keeps each move within what the broker has, as RocketMQ and Kafka do:
// behind the end a consumer would wait, before the beginning jump.
func (e *ends) hold(s *session, m *moves) error {
	bar := s.bar("asking brokers", len(m.targets))
	defer bar.Clear()
	for i := range m.targets {
		_ = bar.Add(1) // a bar that does not draw is no reason to stop
		t := &m.targets[i]
		first, err := s.askBroker(t.Key, e.MinOffset)
		if err != nil {
			return err
		}
		last, err := s.askBroker(t.Key, e.MaxOffset)
		if err != nil {
			return err
		}
		switch {
		case t.Offset < first:
			t.Offset, m.notes[t.Key] = first, "held at the earliest message"
		case t.Offset > last:
			t.Offset, m.notes[t.Key] = last, "held at the end"
		}
	}
	return nil
}
