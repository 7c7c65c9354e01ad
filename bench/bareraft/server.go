package bareraft

import (
	"bufio"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// entryBytes is when an entry is full, window how many are under way.
	entryBytes = 128 << 10
	window     = 4
	// waiting is how many requests wait for an entry or a confirmation.
	waiting = 8192
	// proposeTime bounds how long an entry waits for raft's queue.
	proposeTime = 10 * time.Second
)

// server answers requests: puts that wait at the same time share an entry, reads
// a confirmation of the leadership.
type server struct {
	raft  *raft.Raft
	state *table
	puts  chan request
	gets  chan request
	// ready: it leads, and has applied all that earlier leaders committed.
	ready atomic.Bool
}

func newServer(r *raft.Raft, t *table) *server {
	return &server{raft: r, state: t, puts: make(chan request, waiting), gets: make(chan request, waiting)}
}

// serve takes connections until the context ends.
func (s *server) serve(ctx context.Context, l net.Listener) error {
	context.AfterFunc(ctx, func() { l.Close() })
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { s.propose(ctx) })
	all.Go(func() { s.confirm(ctx) })
	all.Go(func() { s.lead(ctx) })
	for {
		nc, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		all.Go(func() { s.session(ctx, nc) })
	}
}

// lead makes the node ready once it leads and has applied a barrier of its term.
func (s *server) lead(ctx context.Context) {
	for {
		select {
		case leads := <-s.raft.LeaderCh():
			s.ready.Store(leads && s.raft.Barrier(proposeTime).Error() == nil)
		case <-ctx.Done():
			return
		}
	}
}

// session is one connection.
type session struct {
	frames chan []byte
	// gone is closed once nobody reads frames any more.
	gone chan struct{}
}

func (c *session) answer(r reply) {
	select {
	case c.frames <- appendReply(nil, r):
	case <-c.gone:
	}
}

func (s *server) session(ctx context.Context, nc net.Conn) {
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	defer nc.Close()
	c := &session{frames: make(chan []byte, 1024), gone: make(chan struct{})}
	var writer sync.WaitGroup
	writer.Go(func() { writeAll(nc, c.frames, c.gone) })
	defer writer.Wait()
	defer close(c.gone)
	for in := bufio.NewReaderSize(nc, 64<<10); ; {
		q, err := readRequest(in)
		if err != nil {
			return
		}
		q.from = c
		s.take(ctx, q)
	}
}

func (s *server) take(ctx context.Context, q request) {
	queue := s.puts
	switch q.op {
	case opLeads:
		st := statusNotLeader
		if s.ready.Load() {
			st = statusOK
		}
		q.from.answer(reply{id: q.id, status: st})
		return
	case opGet:
		queue = s.gets
	}
	select {
	case queue <- q:
	case <-ctx.Done():
	}
}

// propose makes entries of what waits, some of them at once.
func (s *server) propose(ctx context.Context) {
	slots := make(chan struct{}, window)
	var all sync.WaitGroup
	defer all.Wait()
	for {
		var first request
		select {
		case first = <-s.puts:
		case <-ctx.Done():
			return
		}
		slots <- struct{}{}
		batch, data := gather(first, s.puts)
		future := s.raft.Apply(data, proposeTime)
		all.Go(func() {
			err := future.Error()
			<-slots
			answerAll(batch, outcome(err))
		})
	}
}

// gather takes what waits, as far as an entry has room.
func gather(first request, queue <-chan request) (batch []request, data []byte) {
	batch, data = []request{first}, first.body
	for len(data) < entryBytes {
		select {
		case q := <-queue:
			batch, data = append(batch, q), append(data, q.body...)
		default:
			return batch, data
		}
	}
	return batch, data
}

// confirm answers reads once a quorum has confirmed the leadership, all that
// wait by one confirmation.
func (s *server) confirm(ctx context.Context) {
	for {
		var batch []request
		select {
		case q := <-s.gets:
			batch = append(batch, q)
		case <-ctx.Done():
			return
		}
		for len(s.gets) > 0 {
			batch = append(batch, <-s.gets)
		}
		if err := s.raft.VerifyLeader().Error(); err != nil || !s.ready.Load() {
			answerAll(batch, statusNotLeader)
			continue
		}
		for _, q := range batch {
			offset, there := s.state.get(q.body)
			r := reply{id: q.id, offset: offset}
			if !there {
				r.status = statusAbsent
			}
			q.from.answer(r)
		}
	}
}

func answerAll(batch []request, st status) {
	for _, q := range batch {
		q.from.answer(reply{id: q.id, status: st})
	}
}

func outcome(err error) status {
	switch err {
	case nil:
		return statusOK
	case raft.ErrNotLeader:
		return statusNotLeader
	default:
		return statusFailed
	}
}
