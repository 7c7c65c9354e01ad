package consumer

import (
	"bytes"
	"maps"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// brokerErrs has a group move over from a broker that answers every query of an
// offset with an error for a while, as one does that is busy or starting. A
// client of 4.9 takes that for "no offset"; with the store no consumer begins
// before the broker has said where the group is.
func brokerErrs(t *testing.T, s *scene) {
	const busy = 2 // ResponseCode.SYSTEM_BUSY
	var mu sync.Mutex
	refused, refusing := make(map[string]int), true
	broker := standBetween(t, s.broker.Addr, func(frame []byte) (on, answer []byte) {
		h, err := headerOf(frame)
		if err != nil || h.Code != 14 { // QUERY_CONSUMER_OFFSET
			return frame, nil
		}
		mu.Lock()
		defer mu.Unlock()
		if !refusing {
			return frame, nil
		}
		refused[h.Ext["consumerGroup"]]++
		return nil, refusal(h, busy, "made to fail")
	}, nil)
	names := standBetween(t, s.Names.Addr, nil, func(frame []byte) []byte {
		return bytes.ReplaceAll(frame, []byte(s.broker.Addr), []byte(broker.addr()))
	})

	p := s.processAt(t, t.TempDir(), names.addr())
	all := make(map[string]*consumer)
	for _, k := range []fleet.Kind{fleet.Push, fleet.Orderly, fleet.Lite} {
		topic := s.topic("errs", k)
		s.send(t, topic, 0, 60)
		for q := range queues {
			s.broker.Commit(topic, topic, q, 20)
		}
		all[topic] = p.start(t, k, topic, topic, 0)
	}
	until(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		for topic := range all {
			if refused[topic] < 2*queues {
				return false
			}
		}
		return true
	}, func() string { return "not every queue was asked for again: " + p.Said() })
	for topic, c := range all {
		if n := c.consumed().Len(); n != 0 {
			t.Errorf("%s: %d messages came before anybody knew where the group is", topic, n)
		}
	}
	mu.Lock()
	refusing = false
	t.Logf("refused: %v", maps.Clone(refused))
	mu.Unlock()
	for topic, c := range all {
		c.await(0, 20, 60)
		if again := c.since(0, 0, 20); len(again) != 0 {
			t.Errorf("%s: %d messages came again that were consumed before", topic, len(again))
		}
		s.awaitStored(t, topic, each(60))
	}
}
