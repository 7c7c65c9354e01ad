package client

import (
	"context"
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// RemoteStore is the OffsetStore of a consumer in clustering mode: a table in
// memory, backed by the cluster. The memory takes every update at once;
// what changed is sent by PersistAll, Persist and the persist loop, in one
// request, and has at most one commit per queue under way until its outcome
// is known.
//
// Offset and epoch of a queue are taken over together, by the first read from
// the store after the queue was absent from memory or removed, and by nothing
// else but an own Set that was acknowledged. So read a queue (ReadFromStore)
// before its first message: a value of a queue that was never read stays in
// memory, and is offset.ErrNotRead when it is to be persisted.
//
// A queue that missed an operator's act is fenced: it is frozen until it is
// removed and read again, and OnFenced is always told, per queue.
type RemoteStore struct {
	client *Client
	group  string
	set    storeSettings
	loop   *loop
	// sending is held by whoever sends: one run at a time, so that a key never
	// has two commits under way.
	sending chan struct{}
	said    repeats
	// reading ends with the first Close: no read continues in a closed store.
	// behind is what is sent one way, in goroutines that Close waits for.
	reading context.Context
	shut    context.CancelFunc
	behind  behind

	mu sync.Mutex
	// The fields below belong to mu.

	closed bool
	table  map[offset.MessageQueue]*entry
	// counts are the counters of StoreStats.
	counts StoreStats
	// reads are the first reads under way, by queue.
	reads map[offset.MessageQueue]*firstRead
	// flight is the run of sending under way; nil if there is none.
	flight *flight
	acts   acts
	// refusals counts requests, and parts of them, that were refused whole.
	refusals uint64
}

// firstRead is a first read under way. RemoveOffset takes it off the table, so
// that its answer takes over nothing.
type firstRead struct{ done chan struct{} }

// flight is what a run of sending has under way.
type flight struct {
	queues map[offset.MessageQueue]struct{}
	done   chan struct{}
}

var _ OffsetStore = (*RemoteStore)(nil)

// NewRemoteStore returns the store of a consumer group. It does no I/O. Its
// persist loop runs until Close. The error wraps offset.ErrInvalid.
func NewRemoteStore(c *Client, group string, opts ...StoreOption) (*RemoteStore, error) {
	if err := offset.ValidateName("group", group, false); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, offset.Errorf(offset.ErrInvalid, "a RemoteStore needs a Client; make one by New")
	}
	s := &RemoteStore{
		client:  c,
		group:   group,
		set:     settleStore(c.set, opts),
		sending: make(chan struct{}, 1),
		table:   make(map[offset.MessageQueue]*entry),
		reads:   make(map[offset.MessageQueue]*firstRead),
	}
	s.reading, s.shut = context.WithCancel(context.Background())
	s.behind.init()
	s.loop = startLoop(s.set.pace(), s.tick)
	return s, nil
}

// Load does nothing: all there is is at the cluster.
func (s *RemoteStore) Load() error { return nil }

// UpdateOffset takes the next message to consume into memory. A value below
// that in memory, without increaseOnly, is a deliberate lowering: it is sent
// as a Set, not as a commit, if it is below what the store is known to have.
func (s *RemoteStore) UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool) {
	s.change(mq, func(e *entry) { e.update(next, increaseOnly) })
}

// UpdateAndFreezeOffset takes this offset into memory and ignores further
// updates until RemoveOffset. It is persisted like any other.
func (s *RemoteStore) UpdateAndFreezeOffset(mq offset.MessageQueue, next int64) {
	s.change(mq, func(e *entry) { e.freeze(next) })
}

// change runs a transition on the entry of mq, which is made if need be.
func (s *RemoteStore) change(mq offset.MessageQueue, do func(*entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	e := s.table[mq]
	if e == nil {
		e = &entry{}
	}
	was, had := e.value, e.has
	do(e)
	if had && e.value < was {
		e.before = s.behind.raising(mq)
	}
	if e.has || e.read {
		s.table[mq] = e
	}
}

// RemoveOffset drops a queue from memory, persisted or not. What is under way
// of it ends without an effect on the memory. A value that is not known to be
// persisted is logged and reported by StoreHooks.Failed, with offset.ErrDropped,
// unless the queue is frozen, whose fence was reported.
func (s *RemoteStore) RemoveOffset(mq offset.MessageQueue) {
	s.mu.Lock()
	var lost entry
	if e := s.table[mq]; e != nil && e.fenced == nil && e.unsaid() {
		lost = *e
	}
	delete(s.table, mq)
	delete(s.reads, mq)
	s.mu.Unlock()
	if lost.unsaid() {
		s.set.dropped(s.key(mq), lost.due())
	}
}

// CloneOffsetTable copies the memory: of a topic, or all if topic is empty.
// Queues without a value are left out.
func (s *RemoteStore) CloneOffsetTable(topic string) map[offset.MessageQueue]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[offset.MessageQueue]int64, len(s.table))
	for mq, e := range s.table {
		if e.has && (topic == "" || mq.Topic == topic) {
			out[mq] = e.value
		}
	}
	return out
}

// Close ends the persist loop and reads that are under way, persists what
// changed, and returns what it could not, as a *PersistError. Updates are
// ignored from then on. The Client stays open. Called again it tries again
// with what is left.
func (s *RemoteStore) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.shut()
	s.loop.end(ctx)
	s.behind.end(ctx)
	return s.send(ctx, s.changed(anyQueue, s.all))
}

// Stats gives the state of the store.
func (s *RemoteStore) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.counts
	st.Queues = len(s.table)
	for _, e := range s.table {
		if e.fenced != nil {
			st.Frozen++
		}
		if e.unsaid() {
			st.Unpersisted++
		}
	}
	return st
}

func (s *RemoteStore) key(mq offset.MessageQueue) offset.Key {
	return offset.Key{Group: s.group, MessageQueue: mq}
}

// open returns the error of a store that was closed.
func (s *RemoteStore) open(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &Error{Op: op, Subject: quoted(s.group), Leader: s.client.Leader(), Err: errStoreShut}
	}
	return nil
}

// errStoreShut is what calls of a store get after its Close.
var errStoreShut = offset.Errorf(offset.ErrClosed, "this store was closed")
