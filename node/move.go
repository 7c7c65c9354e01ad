package node

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

// moveHere makes this member's address in the configuration the one that it
// advertises now, while it leads: nobody else could tell where it is. A member
// that was alone, on its own machine or without a network, becomes reachable so
// before others are added. Voters and their ids stay what they are; only where
// one of them is reached changes, so no quorum does.
func (r *replica) moveHere(ctx context.Context) {
	for ctx.Err() == nil {
		switch err := r.change(func() error { return r.moveSelf(ctx) }); offset.CodeOf(err) {
		case offset.CodeOK:
			return
		case offset.CodeInvalid:
			r.config.Logger.Error("this member's address in the cluster stays what it was", "reason", err)
			return
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// moveSelf proposes the change where one is due, unless the address is
// another's, or somebody with this member's identity answers at the old one.
// Beside other voters it must reach itself there: mistyped, the address would
// take it from whoever leads next, which finds it where it was.
func (r *replica) moveSelf(ctx context.Context) error {
	was, ok := r.misplaced()
	if !ok {
		return nil
	}
	to := raft.ServerAddress(r.config.AdvertisePeer)
	for _, s := range r.servers() {
		if s.Address == to && s.ID != was.ID {
			return offset.Errorf(offset.ErrInvalid, "%s is at %s; correct --peer-advertise", s.ID, to)
		}
	}
	if err := r.checkGone(ctx, was); err != nil {
		return err
	}
	if len(voters(r.servers())) > 1 && !r.reachesItself(ctx, string(to)) {
		r.config.Logger.Error("this member does not reach itself at the address that it advertises, and stays in the cluster at the one that it had; correct --peer-advertise", "known_at", was.Address, "peer_advertise", to)
		return nil
	}
	if err := changed(await(ctx, r.raft.AddVoter(was.ID, to, 0, r.changeTime(ctx)))); err != nil {
		return err
	}
	r.config.Logger.Info("this member's address has changed in the cluster", "from", was.Address, "to", to)
	return nil
}

// reachesItself reports whether it is this process that answers at an address.
func (r *replica) reachesItself(ctx context.Context, address string) bool {
	look, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	hello, err := r.peer.To("", address).Hello(look)
	return err == nil && hello.Run == r.peer.RunID()
}

// misplaced returns this member as the configuration has it, if that is at
// another address than it advertises.
func (r *replica) misplaced() (raft.Server, bool) {
	for _, s := range r.servers() {
		if s.ID == raft.ServerID(r.id) {
			return s, string(s.Address) != r.config.AdvertisePeer
		}
	}
	return raft.Server{}, false
}

// tellMisplaced says at a start what a member of several has to be told by an
// operator: the leader looks for it where it was.
func (r *replica) tellMisplaced() {
	if s, ok := r.misplaced(); ok && len(r.servers()) > 1 {
		r.config.Logger.Warn("the cluster looks for this member at another address than it advertises; if it has moved, run on any member: tidemark cluster add "+r.id+" "+r.config.AdvertisePeer+" --execute",
			"known_at", s.Address, "peer_advertise", r.config.AdvertisePeer)
	}
}

// moveMember makes the address of a member the one that it answers at now. If
// it still answers where it was, one of the two is a copy.
func (r *replica) moveMember(ctx context.Context, s raft.Server, address string) error {
	if err := r.checkGone(ctx, s); err != nil {
		return err
	}
	if err := r.checkJoinable(ctx, string(s.ID), address); err != nil {
		return err
	}
	if err := r.unpiped(ctx, s.ID); err != nil {
		return err
	}
	put := r.raft.AddNonvoter
	if s.Suffrage == raft.Voter {
		put = r.raft.AddVoter
	}
	return changed(await(ctx, put(s.ID, raft.ServerAddress(address), 0, r.changeTime(ctx))))
}

// checkGone refuses a move of a member that still answers where it was.
func (r *replica) checkGone(ctx context.Context, s raft.Server) error {
	if s.Address == nowhere {
		return nil
	}
	look, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if hello, err := r.peer.To("", string(s.Address)).Hello(look); err == nil && hello.ID == string(s.ID) && hello.Run != r.peer.RunID() {
		return offset.Errorf(offset.ErrInvalid, "%s runs at %s, too; stop one of the two, and never start copies of one data folder", s.ID, s.Address)
	}
	return nil
}

// unpiped waits until no append is on its way to the address that a member had.
// When an append to it fails, the library reads that address without its lock,
// while the main loop may change it. Nobody answers there any more, so the pipeline
// ends soon, and none is opened again.
func (r *replica) unpiped(ctx context.Context, id raft.ServerID) error {
	for r.trans.pipelines.to(id) > 0 {
		pause(ctx, 10*time.Millisecond)
		if ctx.Err() != nil {
			return offset.Errorf(offset.ErrBusy, "appends to the address that %s had have not come to an end; send the same again", id)
		}
	}
	return nil
}
