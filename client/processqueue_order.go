package client

import "slices"

// Take hands out the next messages in order, n at most, to the one worker of
// the orderly way. None ends the worker: the next Put says to start another.
// What was taken before and neither committed nor rolled back stays taken.
func (q *ProcessQueue[M]) Take(n int) []InFlight[M] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped {
		return nil
	}
	q.forgetLocked()
	var list []InFlight[M]
	now := q.set.clock.Now()
	for len(list) < n {
		s := q.line.nextWaiting()
		if s == nil {
			break
		}
		q.line.take(s, now)
		q.taken = append(q.taken, s.Offset)
		list = append(list, s.InFlight)
	}
	if len(list) == 0 && n > 0 {
		q.consuming = false
	}
	return list
}

// Commit completes what was taken, and gives the offset after it. ok is false
// if nothing was taken or the queue was dropped. Where messages below wait
// again (MakeAgain), it is the lowest of them instead, which RocketMQ would skip.
func (q *ProcessQueue[M]) Commit() (next int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgetLocked()
	if q.dropped || len(q.taken) == 0 {
		return 0, false
	}
	for _, o := range q.taken {
		next = max(next, o+1)
		q.line.finish(o)
	}
	q.taken = q.taken[:0]
	if first, ok := q.line.first(); ok {
		next = min(next, first)
	}
	q.commitLocked(next, false)
	return next, true
}

// Rollback puts all that was taken back, to be taken again, in order.
func (q *ProcessQueue[M]) Rollback() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range q.taken {
		q.line.again(o)
	}
	q.taken = q.taken[:0]
}

// MakeAgain puts some of what was taken back, to be taken again. Offsets that
// are not taken are passed over.
func (q *ProcessQueue[M]) MakeAgain(offsets ...int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range offsets {
		q.line.again(o)
	}
	q.forgetLocked()
}

// forgetLocked takes off the list what is not taken any more: put back, or
// completed the other way.
func (q *ProcessQueue[M]) forgetLocked() {
	q.taken = slices.DeleteFunc(q.taken, func(o int64) bool {
		s := q.line.find(o)
		return s == nil || s.state != taken
	})
}
