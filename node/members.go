package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// AddMember adds id ("name/member-id") at a peer address as a nonvoter, or
// moves a member that answers there now.
func (n *Node) AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	if err := validateMember(id, address); err != nil {
		return n.meta(), err
	}
	return n.administer(ctx, p, addition(id, address),
		func(ctx context.Context, r *replica) error {
			return r.change(func() error { return r.addMember(ctx, id, address) })
		},
		func(ctx context.Context, to *peer.Remote) (offset.Meta, error) {
			return to.AddMember(ctx, p, id, address)
		})
}

// PromoteMember makes a nonvoter a voter once it has caught up.
func (n *Node) PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return n.administer(ctx, p, promotion(id),
		func(ctx context.Context, r *replica) error {
			return r.change(func() error { return r.promoteMember(ctx, id) })
		},
		func(ctx context.Context, to *peer.Remote) (offset.Meta, error) { return to.PromoteMember(ctx, p, id) })
}

// RemoveMember takes a member out, voter or not, by id or, where that is
// unambiguous, by name.
func (n *Node) RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return n.administer(ctx, p, removal(id),
		func(ctx context.Context, r *replica) error {
			return r.change(func() error { return r.removeMember(ctx, id) })
		},
		func(ctx context.Context, to *peer.Remote) (offset.Meta, error) { return to.RemoveMember(ctx, p, id) })
}

// change has one change of the members done at a time, so that each decides by
// the configuration that it changes.
func (r *replica) change(do func() error) error {
	if !r.changing.TryLock() {
		return offset.Errorf(offset.ErrBusy, "another change of the members is under way")
	}
	defer r.changing.Unlock()
	return do()
}

// errand is what an administrator asks for, as the audit log has it.
type errand struct {
	name, detail string
	// logged: an entry of the log brings the line to every member.
	logged bool
}

func addition(id, address string) errand {
	return errand{name: "add member", detail: fmt.Sprintf("id=%q address=%q", id, address)}
}

func promotion(id string) errand {
	return errand{name: "promote member", detail: fmt.Sprintf("id=%q", id)}
}

func removal(id string) errand {
	return errand{name: "remove member", detail: fmt.Sprintf("id=%q", id)}
}

var raising = errand{name: "level", logged: true}

// administerHere does it on this leader, and notes its caller.
func (n *Node) administerHere(ctx context.Context, p auth.Principal, what errand, r *replica, do func(context.Context, *replica) error) (offset.Meta, error) {
	err := do(ctx, r)
	if !what.logged {
		n.administered(p, what.name, what.detail, err)
	}
	return r.meta(), err
}

// administer authorizes, and has the leader do it.
func (n *Node) administer(ctx context.Context, p auth.Principal, what errand, here func(context.Context, *replica) error, there func(context.Context, *peer.Remote) (offset.Meta, error)) (offset.Meta, error) {
	if err := n.allow(p, auth.Administer, auth.Everything, what.name); err != nil {
		return n.meta(), err
	}
	meta, err := atLeader(ctx, n, lastWordOnMembers,
		func(ctx context.Context, r *replica) (offset.Meta, error) {
			return n.administerHere(ctx, p, what, r, here)
		}, there)
	return n.orMeta(meta), err
}

func validateMember(id, address string) error {
	name, rest, ok := strings.Cut(id, "/")
	if !ok || rest == "" || len(id) > offset.MaxName {
		return offset.Errorf(offset.ErrInvalid, "member id %q is not name/member-id; the member's own log and status name it", id)
	}
	if err := validateMemberName(name); err != nil {
		return err
	}
	if err := offset.ValidateName("member id", rest, false); err != nil {
		return err
	}
	return validateAddress("raft address", address)
}

// memberName is the name part of a member's id.
func memberName(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return name
}

// addMember adds a nonvoter that answers at its address and reads the format
// level. A member that answers at another address than it is known by moves
// there and stays what it is. A name, id or address that is taken is refused.
func (r *replica) addMember(ctx context.Context, id, address string) error {
	servers := r.servers()
	for _, s := range servers {
		if string(s.ID) == id && string(s.Address) == address {
			return nil
		}
	}
	for _, s := range servers {
		if string(s.ID) == id && !slices.ContainsFunc(servers, func(o raft.Server) bool { return string(o.Address) == address }) {
			return r.moveMember(ctx, s, address)
		}
		if memberName(string(s.ID)) == memberName(id) || string(s.Address) == address {
			return offset.Errorf(offset.ErrInvalid, "%s at %s is a member already; remove it first: `tidemark cluster remove %s`", s.ID, s.Address, s.ID)
		}
	}
	if len(servers) >= offset.MaxMembers {
		return offset.Errorf(offset.ErrLimit, "the cluster has %d members, which is the most", len(servers))
	}
	if err := r.moveSelf(ctx); err != nil { // so that the new member finds this one
		return err
	}
	if err := r.checkJoinable(ctx, id, address); err != nil {
		return err
	}
	return changed(await(ctx, r.raft.AddNonvoter(raft.ServerID(id), raft.ServerAddress(address), 0, r.changeTime(ctx))))
}

// checkJoinable refuses to add a member that is not what it is to be added as.
func (r *replica) checkJoinable(ctx context.Context, id, address string) error {
	hello, err := r.meet(ctx, address)
	if err != nil {
		return offset.Errorf(offset.ErrInvalid, "nobody answers at %s: %v; start the member first, and name the address that it advertises", address, err)
	}
	switch level := r.machine.Root().Level(); {
	case hello.ID != id:
		return offset.Errorf(offset.ErrInvalid, "%s answers at %s, not %s", hello.ID, address, id)
	case !hello.Cluster.IsZero() && hello.Cluster != r.cluster:
		return offset.Errorf(offset.ErrForeignCluster, "%s belongs to cluster %s; this is %s; give it an empty data folder", id, hello.Cluster, r.cluster)
	case hello.MaxLevel < level:
		return offset.Errorf(offset.ErrLevel, "%s reads format levels up to %d, the cluster is at %d; run a newer build there", id, hello.MaxLevel, level)
	}
	return nil
}

// meetTime is how long a member that is to be added is called again while it does
// not answer: one that its service manager restarts again and again, since it has
// not been added yet, is away for a moment each time.
const meetTime = 4 * time.Second

// meet asks who is at address, until somebody answers, within meetTime and most
// of the deadline, so that the caller hears why not.
func (r *replica) meet(ctx context.Context, address string) (hello peer.Hello, err error) {
	bound := meetTime
	if d, ok := ctx.Deadline(); ok {
		bound = min(bound, time.Until(d)*3/4)
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for {
		h, failed := r.peer.To("", address).Hello(ctx)
		if failed == nil || offset.CodeOf(failed) != offset.CodeUnreachable {
			return h, failed
		}
		if err == nil || ctx.Err() == nil { // the end of the wait says less than what came before
			err = failed
		}
		if pause(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return h, err
		}
	}
}

// changeTime is how long a change of the configuration may wait to be begun.
func (r *replica) changeTime(ctx context.Context) time.Duration {
	if d, ok := ctx.Deadline(); ok {
		return max(time.Until(d), time.Millisecond)
	}
	return r.config.Timeout
}

// changed turns raft's answer to a configuration change into the one for its caller.
func changed(err error) error {
	if err == nil || errors.Is(proposed(err), offset.ErrNotLeader) {
		return proposed(err)
	}
	return offset.Errorf(offset.ErrOutcomeUnknown, "%v; look at `tidemark cluster status` before repeating", err)
}

// find returns the one member with the id or name who.
func find(servers []raft.Server, who string) (raft.Server, error) {
	var found []raft.Server
	for _, s := range servers {
		if string(s.ID) == who {
			return s, nil
		}
		if memberName(string(s.ID)) == who {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return raft.Server{}, offset.Errorf(offset.ErrNotFound, "no member is %q; `tidemark cluster status` lists them", who)
	}
	return raft.Server{}, offset.Errorf(offset.ErrInvalid, "%d members are named %q; name one by its id", len(found), who)
}

// removeMember takes a member out. The leader hands over first, so that the
// others need no election. What it announced goes with it.
func (r *replica) removeMember(ctx context.Context, who string) error {
	servers := r.servers()
	s, err := find(servers, who)
	if err != nil {
		return err
	}
	if s.Suffrage == raft.Voter && len(voters(servers)) == 1 {
		return offset.Errorf(offset.ErrInvalid, "%s is the only voter; without it the cluster is gone", s.ID)
	}
	if err := r.checkRemovable(ctx, s, servers); err != nil {
		return err
	}
	if s.ID == raft.ServerID(r.id) {
		if _, err := r.handOver(ctx, ""); err != nil {
			return err
		}
		return offset.Errorf(offset.ErrNotLeader, "leadership was handed over first")
	}
	if err := changed(await(ctx, r.raft.RemoveServer(s.ID, 0, r.changeTime(ctx)))); err != nil {
		return err
	}
	_, err = r.proposer.propose(ctx, entry.Request{Forget: string(s.ID)})
	if err != nil {
		r.config.Logger.Warn("the announcement of a removed member stays for now", "member", string(s.ID), "error", err)
	}
	return nil
}

// checkRemovable refuses the removal of a voter that would leave too few voters that
// answer: the change could not be committed, nor anything after it.
func (r *replica) checkRemovable(ctx context.Context, gone raft.Server, servers []raft.Server) error {
	if gone.Suffrage != raft.Voter {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(servers), func(s raft.Server) bool { return s.ID == gone.ID || s.Suffrage != raft.Voter })
	bound, cancel := context.WithTimeout(ctx, 2*r.config.Timers.Election)
	defer cancel()
	began, term := time.Now(), r.raft.CurrentTerm()
	err := r.awaitAcks(bound, term, func() bool { return r.acks.confirmed(raft.ServerID(r.id), rest, term, began) })
	if err == nil || errors.Is(err, offset.ErrNotLeader) {
		return err
	}
	return offset.Errorf(offset.ErrDenied, "without %s there would be %d voters, and of these %s does not answer, so the cluster would stand still; bring that one back, or take it out first with `tidemark cluster remove`",
		gone.ID, len(rest), strings.Join(r.silent(rest, began), ", "))
}

// silent names the members that have answered nothing that was sent since.
func (r *replica) silent(servers []raft.Server, since time.Time) (names []string) {
	for _, s := range servers {
		if a := r.acks.of(s.ID, r.raft.CurrentTerm()); s.ID != raft.ServerID(r.id) && a.sent.Before(since) {
			names = append(names, string(s.ID))
		}
	}
	return names
}
