package server

import (
	"sync/atomic"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// admission counts the calls under way on all connections and what they may
// take of memory, against the two bounds.
type admission struct {
	maxCalls, maxBytes int64
	inFlight           atomic.Int64
	reserved           atomic.Int64
	// expected counts the unary requests of HTTP/2 whose bodies have not come yet.
	expected atomic.Int64
	// refused is what refusals take that were not sent.
	refused atomic.Int64
	busy    *atomic.Int64
}

// expect admits a unary request of HTTP/2 before its body is read, since one
// connection may bring many. There may be as many as there may be calls, from which
// they take nothing. The error wraps ErrBusy; unexpect gives the place back.
func (a *admission) expect() error {
	if n := a.expected.Add(1); n > a.maxCalls {
		a.unexpect()
		a.busy.Add(1)
		return offset.Errorf(offset.ErrBusy, "%d requests are still being sent to this node; try again after a moment", a.maxCalls)
	}
	return nil
}

func (a *admission) unexpect() { a.expected.Add(-1) }

// take admits a call that takes size bytes of memory, see weigh, or returns an
// error that wraps ErrBusy. What was admitted is given back by release.
func (a *admission) take(size int64) error {
	if n := a.inFlight.Add(1); n > a.maxCalls {
		a.inFlight.Add(-1)
		a.busy.Add(1)
		return offset.Errorf(offset.ErrBusy, "%d calls are under way on this node; try again after a moment", a.maxCalls)
	}
	if err := a.reserve(size); err != nil {
		a.inFlight.Add(-1)
		return err
	}
	return nil
}

// reserve admits size bytes that belong to no call yet; unreserve gives them back.
func (a *admission) reserve(size int64) error {
	if n := a.reserved.Add(size); n > a.maxBytes {
		a.reserved.Add(-size)
		a.busy.Add(1)
		return offset.Errorf(offset.ErrBusy, "the calls under way on this node take all of their %d bytes; try again after a moment", a.maxBytes)
	}
	return nil
}

func (a *admission) unreserve(size int64) { a.reserved.Add(-size) }

func (a *admission) release(size int64) {
	a.unreserve(size)
	a.inFlight.Add(-1)
}

// refusal admits the answer to a call that was refused; unrefuse gives back what it
// takes. Refusals have as many bytes as calls, but bytes of their own: so there is
// room for them where calls have taken all, and strangers that leave theirs unread
// take nothing from calls.
func (a *admission) refusal() bool {
	if a.refused.Add(refusalMemory) > a.maxBytes {
		a.refused.Add(-refusalMemory)
		return false
	}
	return true
}

func (a *admission) unrefuse(size int64) { a.refused.Add(-size) }

// What one byte of a request, one key read, one commit, one topic of commits and
// one target of an act are reckoned to take of memory: the request decoded, and an
// answer that repeats the keys with their states. Of short names the objects weigh
// far more than the bytes. A row of a listing is a key read, or a name. A refusal
// is an error with its text.
const (
	answerFactor  = 8
	readMemory    = 320
	commitMemory  = 128
	topicMemory   = 192
	targetMemory  = 192
	nameMemory    = 64
	refusalMemory = 384
)

// weigh gives how many bytes of memory a call is reckoned to take.
func weigh(m any) int64 {
	size := sizeOf(m) * answerFactor
	switch m := m.(type) {
	case *tidemarkv1.Call:
		return size + rowsOf(m.GetFetch(), m.GetCommit())
	case *tidemarkv1.FetchRequest:
		return size + rowsOf(m, nil)
	case *tidemarkv1.CommitRequest:
		return size + rowsOf(nil, m)
	case *tidemarkv1.ListRequest:
		return size + pageOf(m)
	case interface{ GetTargets() []*tidemarkv1.Target }:
		return size + int64(len(m.GetTargets()))*targetMemory
	case *tidemarkv1.ExpireRequest:
		return size + int64(len(m.GetGroups()))*targetMemory
	}
	return size
}

// pageOf gives the memory of the page that a request may be answered with.
func pageOf(m *tidemarkv1.ListRequest) int64 {
	rows := int64(m.GetLimit())
	if rows == 0 || rows > offset.MaxPage {
		rows = offset.MaxPage
	}
	if m.GetWhat() == tidemarkv1.ListKind_LIST_KIND_KEYS {
		return rows * readMemory
	}
	return rows * nameMemory
}

// rowsOf gives the memory of the keys of a request; either may be nil.
func rowsOf(f *tidemarkv1.FetchRequest, c *tidemarkv1.CommitRequest) int64 {
	n := len(f.GetKeys())*readMemory + len(c.GetCommits())*topicMemory
	for _, t := range c.GetCommits() {
		n += len(t.GetQueueIds()) * commitMemory
	}
	return int64(n)
}
