package server

import (
	"sync/atomic"

	"github.com/tidemark-mq/tidemark/offset"
)

// admission counts the calls under way on all connections and what they may
// take of memory, against the two bounds.
type admission struct {
	maxCalls, maxBytes int64
	inFlight           atomic.Int64
	reserved           atomic.Int64
	busy               *atomic.Int64
}

// take admits a call whose request has the given size, or returns an error
// that wraps ErrBusy. What was admitted is given back by release.
func (a *admission) take(size int64) error {
	if n := a.inFlight.Add(1); n > a.maxCalls {
		a.inFlight.Add(-1)
		a.busy.Add(1)
		return offset.Errorf(offset.ErrBusy, "%d calls are under way on this node; try again after a moment", a.maxCalls)
	}
	if n := a.reserved.Add(size * answerFactor); n > a.maxBytes {
		a.release(size)
		a.busy.Add(1)
		return offset.Errorf(offset.ErrBusy, "the calls under way on this node take all of their %d bytes; try again after a moment", a.maxBytes)
	}
	return nil
}

func (a *admission) release(size int64) {
	a.reserved.Add(-size * answerFactor)
	a.inFlight.Add(-1)
}
