package node

import (
	"time"

	"github.com/hashicorp/raft"
)

const (
	// mainLoopPause is how long a heartbeat waits for raft's main loop before it is
	// answered without it: less than the pause between two of them.
	mainLoopPause = 10 * time.Millisecond
	// mainLoopSilence is how long a main loop may have taken nothing from the
	// leader before nothing is answered in its place: as long as a write may hang.
	mainLoopSilence = 10 * time.Second
)

// Consumer gives raft's main loop what other members ask.
func (t *transport) Consumer() <-chan raft.RPC { return t.asked }

// carry takes what the library's connections have read to raft's main loop,
// heartbeats apart, until Close.
func (t *transport) carry() {
	for {
		select {
		case rpc := <-t.NetworkTransport.Consumer():
			select {
			case t.asked <- rpc:
			case <-t.end:
				return
			}
		case <-t.end:
			return
		}
	}
}

// heartbeat answers one heartbeat, on its connection's goroutine. raft's main
// loop does so if it gets to it. While it is busy with the disk, a heartbeat that
// would change nothing is answered in its place, so that a follower whose disk
// stalls does not fall silent, and costs nobody the leadership.
//
// Nothing of raft's is changed here: not the term, not the vote, and not when the
// leader was last heard, which the main loop notes when its write is done.
func (t *transport) heartbeat(rpc raft.RPC) {
	answer := make(chan raft.RPCResponse, 1)
	ask, asked := raft.RPC{Command: rpc.Command, RespChan: answer}, t.asked
	look := time.NewTicker(mainLoopPause)
	defer look.Stop()
	for {
		select {
		case asked <- ask:
			asked = nil
		case a := <-answer:
			rpc.RespChan <- a
			return
		case <-look.C:
			if resp, ok := t.unchanged(rpc.Command.(*raft.AppendEntriesRequest)); ok {
				rpc.Respond(resp, nil)
				return
			}
		case <-t.end:
			rpc.Respond(nil, raft.ErrTransportShutdown)
			return
		}
	}
}

// unchanged is what the main loop would answer to a heartbeat with nothing new: of
// the term that this member is in, from the leader that it follows. ok is false
// for any other, which only the main loop may answer, and for all once the main
// loop has been silent for too long.
//
// The answer is true at a moment after the heartbeat was sent: until then this
// member has voted in no later term, since a vote is given only when the term is
// raised. A read index, and a lease, rest on no more than that.
func (t *transport) unchanged(req *raft.AppendEntriesRequest) (resp *raft.AppendEntriesResponse, ok bool) {
	r := t.raft.Load()
	if r == nil || time.Since(r.LastContact()) > mainLoopSilence {
		return nil, false
	}
	_, leader := r.LeaderWithID()
	if r.State() != raft.Follower || string(leader) != string(req.ID) || r.CurrentTerm() != req.Term {
		return nil, false
	}
	header := raft.RPCHeader{ProtocolVersion: req.ProtocolVersion}
	return &raft.AppendEntriesResponse{RPCHeader: header, Term: req.Term, LastLog: r.LastIndex(), Success: true}, true
}

// isHeartbeat distinguishes heartbeats from appends, which name a previous entry, a
// commit index, or entries.
func isHeartbeat(req *raft.AppendEntriesRequest) bool {
	return req.PrevLogEntry == 0 && req.LeaderCommitIndex == 0 && len(req.Entries) == 0
}
