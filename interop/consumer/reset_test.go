package consumer

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// TestReset moves live consumers of every kind by "tidemark group reset": back
// and forward, idle and busy. Each goes on at the reset offset, and the reset is
// not undone by what it was doing.
func TestReset(t *testing.T) {
	s := newScene(t, javaparts.RocketMQ5)
	p := s.process(t, fleet.Java5, t.TempDir())
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			resets(t, s, p, k)
		})
	}
}

func resets(t *testing.T, s *scene, p *process, k fleet.Kind) {
	topic := string(k)
	s.topic(t, topic)
	s.send(topic, 0, 60)
	c := p.start(t, k, topic, topic+"-1", 0)
	until(t, func() bool { return c.consumed().Len() >= 60*queues }, c.p.Said)
	s.awaitStored(t, topic, each(60))

	// Idle, back: all from there on again.
	c.reset(s, 20)
	c.awaitFrom(20, 60)
	s.awaitStored(t, topic, each(60))

	// Busy, forward: it works slowly on a backlog, and what lies before the reset does not come any more.
	c.stop()
	s.send(topic, 60, 400)
	c = p.start(t, k, topic, topic+"-1", slow)
	until(t, func() bool { return c.since(60, 460) > 10 }, c.p.Said)
	c.reset(s, 400)
	c.awaitFrom(400, 460)
	s.awaitStored(t, topic, each(460))
	if n := c.since(60, 400); n >= 340*queues {
		t.Errorf("all %d messages before the reset came", n)
	}

	// Busy, back, several times in a row: the last one counts.
	for i := range effort.Of(1, 10) {
		c.reset(s, int64(450-i))
		until(t, func() bool { return c.mark() > 0 }, c.p.Said)
	}
	last := int64(450 - effort.Of(1, 10) + 1)
	c.awaitFrom(last, 460)
	s.awaitStored(t, topic, each(460))
}
