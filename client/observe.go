package client

import (
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// began gives the time a run began; zero if nobody counts.
func (s *storeSettings) began() (at time.Time) {
	if s.metrics != nil {
		at = s.clock.Now()
	}
	return at
}

// ended reports a run that had something to do to the metrics.
func (s *storeSettings) ended(began time.Time, p PersistRun) {
	if s.metrics != nil && p.Persisted+p.Failed > 0 {
		p.Took = s.clock.Now().Sub(began)
		s.metrics.Persist(p)
	}
}

// failed calls the hook with what a run could not persist.
func (h *StoreHooks) failed(list []QueueError) {
	if h.Failed == nil {
		return
	}
	for _, q := range list {
		h.Failed(q)
	}
}

// dropped reports an offset that left the memory by RemoveOffset before it was
// known to be persisted.
func (s *storeSettings) dropped(k offset.Key, next int64) {
	s.logger.Warn("an offset was removed from memory before it was persisted; its messages may be consumed again", "queue", k.String(), "offset", next)
	s.hooks.failed([]QueueError{{k.MessageQueue, next, offset.ErrDropped}})
}

// count counts a run in a store's own counters.
func (s *StoreStats) count(persisted, failed int) {
	switch {
	case failed > 0:
		s.Failed++
	case persisted > 0:
		s.Persisted++
	}
}

// ran reports a run that ended.
func (s *RemoteStore) ran(r *run, began time.Time, err error) {
	s.set.ended(began, PersistRun{Model: Clustering, Group: s.group, Persisted: r.persisted, Failed: len(r.failed), Err: err})
	for _, it := range r.said { // empty without the hook
		s.set.hooks.Persisted(it.mq, it.value)
	}
	s.set.hooks.failed(r.failed)
}

// began notes when a call of the Client began, if somebody counts.
func (c *Client) began(t *trial) {
	if c.set.metrics != nil {
		t.began = c.set.clock.Now()
	}
}

// ended reports a call that ended, with what its caller gets, to the metrics.
func (c *Client) ended(t *trial, err *error) {
	if m := c.set.metrics; m != nil {
		m.Call(CallEnd{Op: t.op, Attempts: t.sends, Took: c.set.clock.Now().Sub(t.began), Err: *err})
	}
}
