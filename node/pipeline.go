package node

import (
	"sync"

	"github.com/hashicorp/raft"
)

// pipeline notes the answers to pipelined appends on their way to raft. One
// goroutine carries them over; it ends with Close, which raft always calls.
type pipeline struct {
	raft.AppendPipeline
	id   raft.ServerID
	acks *acks
	of   *pipelines
	out  chan raft.AppendFuture
	end  chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// AppendEntriesPipeline names the peer meant and notes its answers.
func (t *transport) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.NetworkTransport.AppendEntriesPipeline(id, peerAddress(id, target))
	if err != nil {
		return nil, err
	}
	p := &pipeline{AppendPipeline: inner, id: id, acks: t.acks, of: &t.pipelines, out: make(chan raft.AppendFuture), end: make(chan struct{})}
	p.of.add(id, 1)
	p.done.Go(p.carry)
	return p, nil
}

// AppendEntries counts what is sent.
func (p *pipeline) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	p.acks.sending(req)
	return p.AppendPipeline.AppendEntries(req, resp)
}

// Consumer gives the answered appends in their order.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.out }

// Close cancels what is in flight and waits for the carrying goroutine.
func (p *pipeline) Close() error {
	var err error
	p.once.Do(func() {
		err = p.AppendPipeline.Close()
		close(p.end)
		p.done.Wait()
		p.of.add(p.id, -1)
	})
	return err
}

// pipelines counts those that are open, by member. raft closes one after its
// last look at the address that it had.
type pipelines struct {
	mu   sync.Mutex
	open map[raft.ServerID]int // guarded by mu; none is 0
}

func (p *pipelines) add(id raft.ServerID, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[raft.ServerID]int{}
	}
	if p.open[id] += n; p.open[id] == 0 {
		delete(p.open, id)
	}
}

func (p *pipelines) to(id raft.ServerID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[id]
}

func (p *pipeline) carry() {
	for {
		select {
		case f := <-p.AppendPipeline.Consumer():
			if f.Error() == nil {
				p.acks.answered(p.id, f.Start(), f.Request(), f.Response())
			}
			select {
			case p.out <- f:
			case <-p.end:
				return
			}
		case <-p.end:
			return
		}
	}
}
