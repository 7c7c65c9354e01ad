package node

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// Status is answered by the node itself, leader or not, ready or not; leader
// asks the leader instead.
func (n *Node) Status(ctx context.Context, p auth.Principal, leader bool) (offset.Status, error) {
	if err := n.allow(p, auth.Look, auth.Everything, "status"); err != nil {
		return offset.Status{Meta: n.meta()}, err
	}
	if !leader {
		return n.shown(p, n.status()), nil
	}
	s, err := atLeader(ctx, n, lastWord,
		func(ctx context.Context, r *replica) (offset.Status, error) { return n.status(), nil },
		func(ctx context.Context, to *peer.Remote) (offset.Status, error) { return to.Status(ctx, p) })
	return n.shown(p, s), err
}

// status is what this node knows now.
func (n *Node) status() offset.Status {
	s := offset.Status{
		Meta:     n.meta(),
		State:    "starting",
		MaxLevel: offset.FormatLevel,
		Version:  n.config.Version,
		Vitals:   n.vitals(),
	}
	if id := n.identity.Load(); id != nil {
		s.NodeID = id.id()
	}
	if err := n.Ready(); err != nil {
		s.NotReady = err.Error()
	}
	r := n.replica.Load()
	if r == nil {
		if n.quarantine.Load() != nil || n.stopping.Load() {
			s.State = "shutdown"
		}
		return s
	}
	root := r.machine.Root()
	s.State = stateName(r.raft.State())
	s.Term = r.raft.CurrentTerm()
	s.CommitIndex, s.LastIndex, s.SnapshotIndex = r.raft.CommitIndex(), r.raft.LastIndex(), r.snapshotIndex()
	s.Level = root.Level()
	s.Digest, s.DigestIndex = root.Digest(), root.Index()
	s.Groups, s.Queues = root.Groups(), root.Queues()
	s.Import = root.Import()
	s.Members = r.members(root)
	return s
}

// vitals is how this node is by itself. The space is that of the file system,
// which answers from memory.
func (n *Node) vitals() offset.Vitals {
	c := &n.counts
	v := offset.Vitals{
		Clock:       n.config.Clock().UnixMilli(),
		Lease:       n.config.Timers.Lease,
		DiskWrites:  c.writes.Load(),
		DiskTime:    time.Duration(c.writeNanos.Load()),
		DiskLongest: time.Duration(c.longestWrite.Load()),
		Commits:     c.commits.Load(),
		Entries:     c.costed.Load(),
		Stages:      c.stages(),
	}
	if free, total, err := store.FreeSpace(n.config.Dir); err == nil { // the folder may not be there yet
		v.DiskFree, v.DiskTotal = free, total
	}
	if r := n.replica.Load(); r != nil {
		v.DiskNeeded = r.space.needed.Load()
	}
	return v
}

func stateName(s raft.RaftState) string {
	switch s {
	case raft.Leader:
		return "leader"
	case raft.Candidate:
		return "candidate"
	case raft.Shutdown:
		return "shutdown"
	}
	return "follower"
}

// members are those of the newest configuration, with what they announced. A
// leader knows what each holds; others know of themselves alone.
func (r *replica) members(root *table.Root) []offset.MemberStatus {
	said := map[string]offset.Member{}
	for _, m := range root.Members() {
		said[m.ID] = m
	}
	_, leader := r.raft.LeaderWithID()
	leads, term := r.lead.leads(), r.raft.CurrentTerm()
	var list []offset.MemberStatus
	for _, s := range r.servers() {
		m := offset.MemberStatus{
			Member: said[string(s.ID)],
			Peer:   string(s.Address),
			Voter:  s.Suffrage == raft.Voter,
			Leader: s.ID == leader,
			Match:  -1, ContactAge: -1,
		}
		m.ID = string(s.ID)
		switch {
		case s.ID == raft.ServerID(r.id):
			m.Match, m.ContactAge = int64(r.raft.LastIndex()), 0
		case leads:
			a := r.acks.of(s.ID, term)
			m.Match = int64(a.match)
			if !a.heard.IsZero() {
				m.ContactAge = time.Since(a.heard)
			}
		}
		list = append(list, m)
	}
	return list
}

// meta is the Meta of the newest root.
func (r *replica) meta() offset.Meta { return r.metaOf(r.machine.Root()) }

// metaOf is the Meta of an answer from root.
func (r *replica) metaOf(root *table.Root) offset.Meta {
	return offset.Meta{
		Cluster: r.cluster, Index: root.Index(), LastAct: root.LastAct(),
		Leader: r.leaderAPI(root), Age: r.age(),
	}
}

// metaAt is the Meta of an answer to what was proposed.
func (r *replica) metaAt(o outcome) offset.Meta {
	return offset.Meta{Cluster: r.cluster, Index: o.index, LastAct: o.lastAct, Leader: r.config.AdvertiseAPI}
}

// leaderAPI is the API address that the leader has announced.
func (r *replica) leaderAPI(root *table.Root) string {
	_, id := r.raft.LeaderWithID()
	if id == raft.ServerID(r.id) {
		return r.config.AdvertiseAPI
	}
	for _, m := range root.Members() {
		if m.ID == string(id) {
			return m.API
		}
	}
	return ""
}

// age is the time since this member last heard from a leader.
func (r *replica) age() time.Duration {
	if r.lead.leads() {
		return 0
	}
	if last := r.raft.LastContact(); !last.IsZero() {
		return time.Since(last)
	}
	return time.Since(r.began)
}

// meta is the Meta of this node, with what it knows while raft does not run.
func (n *Node) meta() offset.Meta {
	if r := n.replica.Load(); r != nil {
		return r.meta()
	}
	var m offset.Meta
	if id := n.identity.Load(); id != nil {
		m.Cluster = id.cluster()
	}
	return m
}

// orMeta fills the Meta of an error with what this node knows.
func (n *Node) orMeta(m offset.Meta) offset.Meta {
	if m.Cluster.IsZero() {
		return n.meta()
	}
	return m
}

// Leader returns the API address of the leader as this node knows it.
func (n *Node) Leader() string { return n.meta().Leader }
