package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// find asks the other founders what they are, and draws the cluster, goes into
// the one that lists this member, or ends where one does not.
func (f *founding) find(ctx context.Context) (done bool, err error) {
	replies := f.ask(ctx)
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var missing []string
	var cluster *reply // of those that belong to a cluster, the one that knows best
	for i := range replies {
		r := &replies[i]
		if err := f.check(*r); err != nil {
			return false, err
		}
		switch {
		case r.err != nil:
			missing = append(missing, fmt.Sprintf("%s at %s: %q", r.founder.Name, r.founder.Peer, r.err))
		case r.hello.Cluster.IsZero():
		case cluster == nil:
			cluster = r
		case cluster.hello.Cluster != r.hello.Cluster:
			return false, offset.Errorf(offset.ErrForeignCluster, "initial cluster (--initial-cluster): %q belongs to cluster %s, %q to %s", cluster.hello.ID, cluster.hello.Cluster, r.hello.ID, r.hello.Cluster)
		case knows(r.hello) > knows(cluster.hello):
			cluster = r
		}
	}
	if cluster != nil {
		return f.enter(*cluster)
	}
	f.met = time.Time{}
	if err := f.agree(replies); err != nil {
		return false, err
	}
	switch {
	case len(missing) > 0:
		f.tell("waiting for the other founders", missing)
		return false, nil
	case f.name() != f.first():
		f.tell("all founders are here; waiting for "+f.first()+", which founds the cluster", nil)
		return false, nil
	}
	return false, f.draw(replies)
}

// agree refuses founders that are configured with other founders than this node,
// before anything is drawn.
func (f *founding) agree(replies []reply) error {
	for _, r := range replies {
		own := founderList(f.initial)
		switch theirs := r.hello.Founders; {
		case r.err != nil || theirs == own:
		case theirs == "":
			return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): %q at %s was started without one, this node with %s. Start all founders with the same; nothing has been founded yet", r.hello.ID, r.founder.Peer, own)
		default:
			return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): %q at %s has %q, this node %s. It must be the same on all founders; nothing has been founded yet", r.hello.ID, r.founder.Peer, theirs, own)
		}
	}
	return nil
}

// founderList is an initial cluster in one form, whatever its order.
func founderList(initial []Founder) string {
	var list []string
	for _, f := range initial {
		list = append(list, f.Name+"="+f.Peer)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// knows orders members of a cluster by what their word on this member is
// worth: one that lists it knows best, one whose raft does not run yet, or that
// only holds a draw, does not know.
func knows(h peer.Hello) int {
	switch {
	case h.Listed && !h.Empty:
		return 3
	case h.Listed:
		return 2
	case h.Level > 0:
		return 1
	}
	return 0
}

// enter goes into a cluster that was met, if that lists this member.
func (f *founding) enter(r reply) (done bool, err error) {
	h := r.hello
	if h.Listed && !h.Empty {
		f.logger.Info("a cluster lists this member", "cluster", h.Cluster, "by", h.ID)
		return true, f.join(h.Cluster, nil)
	}
	if f.met.IsZero() {
		f.met = time.Now()
	}
	switch {
	case h.Listed:
		f.tell("a draw lists this member; waiting to be told by "+f.first(), nil)
		return false, nil
	case knows(h) == 0 || time.Since(f.met) < f.grace:
		f.tell("met a cluster that does not list this member yet", []string{h.ID})
		return false, nil
	}
	return false, offset.Errorf(offset.ErrDenied,
		"%s is empty, but %s at %s belongs to cluster %s already, which does not list it: either the data of this node was lost, or it was not among those that founded the cluster. %s",
		f.identity.id(), h.ID, r.founder.Peer, h.Cluster, f.wayBack(false))
}

// join puts the cluster into the identity.
func (f *founding) join(c offset.ClusterID, founders []peer.Founder) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.identity.join(c, founders, false)
}

// draw draws the cluster: all founders have said, in this round, that they are empty.
func (f *founding) draw(replies []reply) error {
	ids := map[string]string{f.name(): f.identity.id()}
	for _, r := range replies {
		ids[r.founder.Name] = r.hello.ID
	}
	var voters []peer.Founder
	for _, o := range f.initial {
		voters = append(voters, peer.Founder{ID: ids[o.Name], Peer: o.Peer})
	}
	c := drawCluster()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.identity.cluster().IsZero() {
		return nil // somebody was faster; the next round sees it
	}
	f.logger.Info("founding a cluster", "cluster", c, "founders", len(voters))
	f.wake()
	return f.identity.join(c, voters, true)
}

// standing is what a founder has become since the draw.
type standing uint8

const (
	// unheard: it has not answered, or not clearly.
	unheard standing = iota
	// holds: it has stored the draw.
	holds
	// lost: another identity is in its place, which the draw does not name.
	lost
)

// spread sends the draw to all founders that have not acknowledged it; done once
// all have. It is the same after a crash: a founder that holds the draw says so
// again.
func (f *founding) spread(ctx context.Context) (done bool, err error) {
	draw := peer.Founding{Cluster: f.identity.cluster(), Founders: f.identity.founders()}
	standings := make([]standing, len(draw.Founders))
	errs := make([]error, len(draw.Founders))
	var telling sync.WaitGroup
	for i, v := range draw.Founders {
		if v.ID == f.identity.id() || f.acknowledged[v.ID] {
			standings[i] = holds
			continue
		}
		telling.Go(func() { standings[i], errs[i] = f.give(ctx, v, draw) })
	}
	telling.Wait()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var missing []string
	count := map[standing]int{}
	for i, v := range draw.Founders {
		count[standings[i]]++
		switch {
		case standings[i] == holds:
			f.acknowledged[v.ID] = true
		case standings[i] == unheard && final(errs[i]):
			return false, errs[i]
		default:
			missing = append(missing, fmt.Sprintf("%s at %s: %q", v.ID, v.Peer, errs[i]))
		}
	}
	switch {
	case count[unheard] > 0:
		f.tell("waiting for all founders to store the draw", missing)
		return false, nil
	case count[lost] > 0 && 2*count[holds] <= len(draw.Founders):
		return false, offset.Errorf(offset.ErrDamaged,
			"the founding was broken off: most founders have lost their data folders since the cluster %s was drawn (%v). If none of them has ever been ready, empty the data folders of all and start again", draw.Cluster, missing)
	case count[lost] > 0:
		f.logger.Warn("founders have lost their data folders; the others go on without them", "lost", missing)
	}
	return true, f.identity.settle()
}

// give sends the draw to one founder.
func (f *founding) give(ctx context.Context, v peer.Founder, draw peer.Founding) (standing, error) {
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	m := f.meet(v.Peer)
	h, err := m.Hello(ctx)
	if err := cmp.Or(f.check(reply{Founder{Name: memberName(v.ID), Peer: v.Peer}, h, err}), err); err != nil {
		return unheard, err
	}
	switch {
	case h.ID != v.ID:
		return lost, fmt.Errorf("it is %s now", h.ID)
	case h.Cluster == draw.Cluster:
		return holds, nil
	case !h.Cluster.IsZero():
		return unheard, offset.Errorf(offset.ErrForeignCluster,
			"%s at %s belongs to cluster %s, not to the %s that this node has drawn: is --initial-cluster the same on all founders?", h.ID, v.Peer, h.Cluster, draw.Cluster)
	}
	if err := m.Found(ctx, draw); err != nil {
		return unheard, err
	}
	return holds, nil
}

// final reports whether an error would not go away by trying again.
func final(err error) bool {
	switch offset.CodeOf(err) {
	case offset.CodeInvalid, offset.CodeForeignCluster, offset.CodeDamaged, offset.CodeLevel, offset.CodeDenied:
		return true
	}
	return false
}

// hello answers peer.Handler's Hello, before, while and after run.
func (f *founding) hello(from string) peer.Hello {
	id := f.identity
	h := peer.Hello{
		ID: id.id(), Cluster: id.cluster(), Empty: f.empty && !id.started(),
		MaxLevel: offset.FormatLevel, Level: f.level(), Peer: f.peer, API: f.api,
	}
	if h.Cluster.IsZero() {
		h.Founders = founderList(f.initial)
	}
	if id.started() {
		h.Listed = f.listed(from)
	} else {
		h.Listed = slices.ContainsFunc(id.founders(), func(v peer.Founder) bool { return v.ID == from })
	}
	return h
}

// found answers peer.Handler's Found.
func (f *founding) found(_ context.Context, from string, g peer.Founding) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := f.identity
	switch {
	case id.cluster() == g.Cluster:
		return nil
	case !id.cluster().IsZero():
		return offset.Errorf(offset.ErrForeignCluster, "%s belongs to cluster %s", id.id(), id.cluster())
	case !f.empty:
		return offset.Errorf(offset.ErrDenied, "%s is not empty", id.id())
	case len(f.initial) == 0:
		return offset.Errorf(offset.ErrDenied, "%s is no founder: it was started without --initial-cluster", id.id())
	}
	if err := f.sameFounders(from, g.Founders); err != nil {
		return err
	}
	if err := id.join(g.Cluster, g.Founders, false); err != nil {
		return err
	}
	f.logger.Info("founded", "cluster", g.Cluster, "by", from)
	f.wake()
	return nil
}

// sameFounders checks a draw against this node's own list.
func (f *founding) sameFounders(from string, voters []peer.Founder) error {
	differ := func(format string, args ...any) error {
		return offset.Errorf(offset.ErrInvalid, "%s is refused by %s: %s; --initial-cluster must be the same on all founders", from, f.identity.id(), fmt.Sprintf(format, args...))
	}
	if memberName(from) != f.first() {
		return differ("the founder that draws is %s", f.first())
	}
	if len(voters) != len(f.initial) {
		return differ("%d founders were drawn, its own list has %d", len(voters), len(f.initial))
	}
	seen := map[string]string{}
	for _, v := range voters {
		seen[memberName(v.ID)] = v.Peer
	}
	for _, o := range f.initial {
		if seen[o.Name] != o.Peer {
			return differ("%s was drawn at %q, its own list has %s", o.Name, seen[o.Name], o.Peer)
		}
	}
	for _, id := range []string{from, f.identity.id()} {
		if !slices.ContainsFunc(voters, func(v peer.Founder) bool { return v.ID == id }) {
			return differ("the draw does not name %s", id)
		}
	}
	return nil
}

// adopt is peer.Config's Adopt: raft of a cluster knows this very member,
// which is fresh, so an operator has added it there, or it was drawn.
func (f *founding) adopt(cluster offset.ClusterID, from string, level uint8) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case level > offset.FormatLevel:
		f.failed = tooOld(level)
		f.wake()
		return f.failed
	case !f.empty:
		return offset.Errorf(offset.ErrDenied, "%s is not empty", f.identity.id())
	}
	if err := f.identity.join(cluster, nil, false); err != nil {
		return err
	}
	f.logger.Info("called into a cluster", "cluster", cluster, "by", from)
	f.wake()
	return nil
}
