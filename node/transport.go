package node

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// transport is raft's NetworkTransport with what we need round it: it names
// the peer that is meant (dialing and voting see "id@host:port"), keeps
// heartbeats off the fast path, and notes what followers have acknowledged.
type transport struct {
	*raft.NetworkTransport
	acks *acks
	// fastPath and mainLoopOnly are those of Unsafe.
	fastPath, mainLoopOnly bool
	// asked is what other members ask, on the way to raft's main loop.
	asked    chan raft.RPC
	carrying sync.WaitGroup
	// pipelines are those that are open now.
	pipelines pipelines
	// raft is set once it runs.
	raft atomic.Pointer[raft.Raft]
	// end is closed by Close.
	end   chan struct{}
	close sync.Once
}

// newTransport starts the library's listener on stream. Close ends it and
// every connection.
func newTransport(c *Config, stream raft.StreamLayer, acks *acks, log hclog.Logger) *transport {
	inner := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:          stream,
		MaxPool:         3,
		MaxRPCsInFlight: 2,
		Timeout:         rpcTimeout(c.Timers),
		Logger:          log,
	})
	inner.TimeoutScale = 16 << 20
	t := &transport{
		NetworkTransport: inner, acks: acks, fastPath: c.Unsafe.HeartbeatFastPath, mainLoopOnly: c.Unsafe.HeartbeatsWait,
		asked: make(chan raft.RPC), end: make(chan struct{}),
	}
	t.carrying.Go(t.carry)
	return t
}

// rpcTimeout bounds one call to a peer, and so how long a link that swallows
// everything keeps a call: a few elections, but no less than what an append of
// megabytes may take.
func rpcTimeout(t Timers) time.Duration { return max(4*t.Election, 1200*time.Millisecond) }

// peerAddress names a member and where it listens in one word, since raft's
// StreamLayer gets no more than an address.
func peerAddress(id raft.ServerID, addr raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(id) + "@" + addr
}

// splitPeerAddress takes peerAddress apart. An address never holds an '@'.
func splitPeerAddress(s raft.ServerAddress) (id, addr string) {
	i := strings.LastIndexByte(string(s), '@')
	if i < 0 {
		return "", string(s)
	}
	return string(s[:i]), string(s[i+1:])
}

// SetHeartbeatHandler leaves raft's handler out: on that fast path a heartbeat of
// a newer term changes the term under the main loop, which then stores what waits
// under a term that this member never won. Ours changes nothing.
func (t *transport) SetHeartbeatHandler(handler func(raft.RPC)) {
	switch {
	case t.fastPath:
		t.NetworkTransport.SetHeartbeatHandler(handler)
	case !t.mainLoopOnly:
		t.NetworkTransport.SetHeartbeatHandler(t.heartbeat)
	}
}

// EncodePeer puts the id into the address, so that a vote is for a member and
// not for whoever has its address now.
func (t *transport) EncodePeer(id raft.ServerID, addr raft.ServerAddress) []byte {
	return []byte(peerAddress(id, addr))
}

// DecodePeer gives the address alone.
func (t *transport) DecodePeer(b []byte) raft.ServerAddress {
	_, addr := splitPeerAddress(raft.ServerAddress(b))
	return raft.ServerAddress(addr)
}

// AppendEntries notes when an acknowledged call was sent: see acks.
func (t *transport) AppendEntries(id raft.ServerID, target raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	t.acks.sending(req)
	sent := time.Now()
	err := t.NetworkTransport.AppendEntries(id, peerAddress(id, target), req, resp)
	switch {
	case err == nil:
		t.acks.answered(id, sent, req, resp)
	case !isHeartbeat(req):
		t.hold(id, req.Term)
	}
	return err
}

// RequestVote names the peer meant.
func (t *transport) RequestVote(id raft.ServerID, target raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if planted.Is(planted.BehindElected) {
		boast := *req
		boast.LastLogTerm = req.Term
		req = &boast
	}
	return t.spoke(id, t.NetworkTransport.RequestVote(id, peerAddress(id, target), req, resp))
}

// RequestPreVote names the peer meant, and asks one that refuses again: see
// askAgain.
func (t *transport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if planted.Is(planted.BehindElected) {
		boast := *req
		boast.LastLogTerm = req.Term
		req = &boast
	}
	ask := func() error {
		*resp = raft.RequestPreVoteResponse{}
		return t.spoke(id, t.NetworkTransport.RequestPreVote(id, peerAddress(id, target), req, resp))
	}
	return t.askAgain(ask, func() bool { return !resp.Granted && resp.Term < req.Term })
}

// spoke notes that a member answered, unless err says that it did not.
func (t *transport) spoke(id raft.ServerID, err error) error {
	if err == nil {
		t.acks.spoke(id)
	}
	return err
}

// TimeoutNow names the peer meant.
func (t *transport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.NetworkTransport.TimeoutNow(id, peerAddress(id, target), req, resp)
}

// InstallSnapshot names the peer meant.
func (t *transport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	return t.NetworkTransport.InstallSnapshot(id, peerAddress(id, target), req, resp, data)
}

// Close ends the connections too, which the library leaves open.
func (t *transport) Close() error {
	t.close.Do(func() { close(t.end) })
	t.carrying.Wait()
	t.CloseStreams()
	return t.NetworkTransport.Close()
}
