package node

import (
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// pipeline notes the answers to pipelined appends on their way to raft. One
// goroutine carries them over; it ends with Close, which raft always calls.
type pipeline struct {
	raft.AppendPipeline
	id   raft.ServerID
	acks *acks
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
	p := &pipeline{AppendPipeline: inner, id: id, acks: t.acks, out: make(chan raft.AppendFuture), end: make(chan struct{})}
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
	})
	return err
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

// InstallSnapshot names the peer meant.
func (t *transport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	return t.NetworkTransport.InstallSnapshot(id, peerAddress(id, target), req, resp, data)
}
