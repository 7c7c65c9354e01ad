package consumer

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// reset moves live consumers of every kind by "tidemark group reset": idle
// and busy, back and forward, again and again. Each goes on at the reset offset,
// and no reset is undone by what a consumer was doing.
func reset(t *testing.T, s *scene) {
	p := s.process(t, t.TempDir())
	for _, k := range s.kinds() {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			s.resets(t, p, k)
		})
	}
}

func (s *scene) resets(t *testing.T, p *process, k fleet.Kind) {
	topic := s.topic("reset", k)
	s.send(t, topic, 0, 60)
	c := p.start(t, k, topic, topic, 0)
	c.await(0, 0, 60)
	s.awaitStored(t, topic, each(60))

	had := s.reset(t, c, 20) // idle, back
	c.await(had, 20, 60)
	s.awaitStored(t, topic, each(60))
	c.stop()

	s.send(t, topic, 60, 460)
	c = p.start(t, k, topic, topic, pace(k))
	began := c.consumed().Len()
	until(t, func() bool { return c.consumed().Len() > began }, p.Said)
	had = s.reset(t, c, 400) // busy, forward
	c.await(had, 400, 460)
	s.awaitStored(t, topic, each(460))
	if n := len(c.since(began, 60, 400)); n >= 340*queues {
		t.Errorf("all %d messages before the reset came", n)
	} else {
		t.Logf("%s: %d of %d messages before the reset came", k, n, 340*queues)
	}

	for i := range effort.Of(int64(2), 10) { // at work, back, one after the other
		had = s.reset(t, c, 430+i)
		until(t, func() bool { return len(c.since(had, 430+i, 460)) > 0 }, p.Said)
	}
	had = s.reset(t, c, 440)
	c.await(had, 440, 460)
	s.awaitStored(t, topic, each(460))
}

// pace is how long a batch takes that is being worked on while a reset comes:
// of a push consumer it is one message, of a lite pull consumer up to ten.
func pace(k fleet.Kind) time.Duration {
	if k == fleet.Push || k == fleet.Orderly {
		return 100 * time.Millisecond
	}
	return time.Second
}

// reset moves all queues of a consumer's group, and gives how many messages it
// had got before.
func (s *scene) reset(t *testing.T, c *consumer, to int64) int {
	t.Helper()
	had := c.consumed().Len()
	s.cluster.Tidemark("group", "reset", c.topic, "--topic", c.topic, "--to-offset", strconv.FormatInt(to, 10), "--execute").
		Want(t, 0, "", "")
	return had
}

// place is one message of a topic.
type place struct {
	queue  int
	offset int64
}

// since are the messages from..to of each queue that came after the first had lines.
func (c *consumer) since(had int, from, to int64) map[place]int {
	seen := make(map[place]int)
	for _, m := range c.consumed().All()[had:] {
		if m.Offset >= from && m.Offset < to {
			seen[place{queueOf(m), m.Offset}]++
		}
	}
	return seen
}

// await waits until all messages from..to of each queue came after the first had lines.
func (c *consumer) await(had int, from, to int64) {
	c.t.Helper()
	want := int(to-from) * queues
	until(c.t, func() bool { return len(c.since(had, from, to)) == want }, func() string {
		return fmt.Sprintf("%s: %d of %d messages from %d to %d came; told: %v; it said: %s",
			c.name, len(c.since(had, from, to)), want, from, to, c.p.Ask("told"), c.p.Said())
	})
}
