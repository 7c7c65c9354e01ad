package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// clusterCmd holds what concerns the cluster itself.
type clusterCmd struct {
	Status   statusCmd   `cmd:"" help:"Show the members, who leads, and how each of them is."`
	Add      addCmd      `cmd:"" help:"Add a member as a nonvoter."`
	Promote  promoteCmd  `cmd:"" help:"Make a nonvoter that has caught up a voter."`
	Remove   removeCmd   `cmd:"" help:"Take a member out."`
	Transfer transferCmd `cmd:"" help:"Hand leadership to another voter."`
	Snapshot snapshotCmd `cmd:"" help:"Take a snapshot on a node now."`
	Backup   backupCmd   `cmd:"" help:"Write all that the cluster keeps to a file, while it keeps running."`
	Restore  restoreCmd  `cmd:"" help:"Replace all offsets of the cluster with those of a backup."`
	Rescue   rescueCmd   `cmd:"" help:"Found a new cluster from what is left of one that has lost its majority for good."`
	Claims   claimsCmd   `cmd:"" help:"List who holds which group or broker, as a RocketMQ broker holds its own name."`
	Raise    raiseCmd    `cmd:"" name:"raise-level" help:"Raise the format level, once all members can read it. It is never lowered."`
}

// statusCmd shows the cluster.
type statusCmd struct{}

// memberRow is one member, as the leader and the member itself see it.
type memberRow struct {
	ID   string `json:"id"`
	Peer string `json:"peer"`
	API  string `json:"api"`
	// Role is "leader", "voter" or "nonvoter".
	Role string `json:"role"`
	// State, Index and Digest are the member's own words; State is
	// "unreachable" where it gave none.
	State    string `json:"state"`
	Index    uint64 `json:"index,string"`
	Digest   string `json:"digest,omitempty"`
	NotReady string `json:"notReady,omitempty"`
	// MaxLevel is the highest format level that it reads, as it has announced.
	MaxLevel uint8 `json:"maxFormatLevel"`
	// Match is the last index that the leader knows it to hold, ContactMS the
	// time since the leader heard from it; -1 where it is not known.
	Match     int64 `json:"match,string"`
	ContactMS int64 `json:"contactMs"`

	vitals offset.Vitals
}

// statusResult is how the cluster is.
type statusResult struct {
	ClusterID string `json:"clusterId"`
	// Leader is the API address of the leader; its id while it has announced none.
	Leader string `json:"leader"`
	// Node is the node that was asked first, State its own.
	Node    string      `json:"node"`
	State   string      `json:"state"`
	Term    uint64      `json:"term,string"`
	Index   uint64      `json:"index,string"`
	Level   uint8       `json:"formatLevel"`
	Groups  uint64      `json:"groups,string"`
	Queues  uint64      `json:"queues,string"`
	Version string      `json:"version"`
	Import  *importRow  `json:"import,omitempty"`
	Members []memberRow `json:"members"`
	// Problems say what is wrong; empty if nothing is.
	Problems []string `json:"problems"`
	// Notes say what may become wrong.
	Notes []string `json:"notes,omitempty"`
}

// importRow is the import under way.
type importRow struct {
	// ID is missing where only those see it who may go on with the import.
	ID      string `json:"id,omitempty"`
	Replace bool   `json:"replace"`
	Group   string `json:"group,omitempty"`
	Next    uint32 `json:"next"`
	Chunks  uint32 `json:"chunks"`
	Offsets uint64 `json:"offsets,string"`
}

func (r *statusResult) table(t *table) {
	leader := r.Leader
	if leader == "" {
		leader = "none"
	}
	t.line("cluster %s: leader %s, term %d, index %d, format level %d", r.ClusterID, leader, r.Term, r.Index, r.Level)
	t.line("%s, %s (asked %s, %s, version %s)", plural(r.Groups, "group", "groups"), plural(r.Queues, "queue", "queues"), r.Node, r.State, r.Version)
	if i := r.Import; i != nil {
		t.line("import %s under way: chunk %d of %d", cmp.Or(i.ID, "(id not told)"), i.Next, i.Chunks)
	}
	t.row("MEMBER", "ROLE", "STATE", "INDEX", "CONTACT", "API", "PEER", "DIGEST")
	for _, m := range r.Members {
		contact := "-"
		if m.ContactMS >= 0 {
			contact = (time.Duration(m.ContactMS) * time.Millisecond).String()
		}
		t.row(shown(m.ID), m.Role, m.State, num(m.Index), contact, shown(m.API), shown(m.Peer), m.Digest)
	}
	for _, p := range r.Problems {
		t.line("problem: %s", p)
	}
	for _, n := range r.Notes {
		t.line("note: %s", n)
	}
}

// Run asks one node, then each member it names. Exit code 5: something is
// wrong; 8: there is no leader.
func (statusCmd) Run(s *session) error {
	r, err := s.look()
	if err != nil {
		return err
	}
	r.judge()
	if err := s.print(r); err != nil {
		return err
	}
	switch {
	case r.Leader == "":
		return errNoLeader
	case len(r.Problems) > 0:
		return exitf(exitUnhealthy, "%s (%d in all)", r.Problems[0], len(r.Problems))
	}
	return nil
}

// errNoLeader is told where nobody knows who leads.
var errNoLeader = exitf(exitNoLeader, "no leader is known; a majority of the voters must be up and reach each other")

// look looks at the cluster, for a moment more while a member that has just
// started or come to lead has not told its address yet.
func (s *session) look() (*statusResult, error) {
	soon := time.NewTimer(min(announcePatience, s.timeout))
	defer soon.Stop()
	again := time.NewTicker(announcing)
	defer again.Stop()
	for {
		r, err := s.lookOnce()
		if err != nil || !slices.ContainsFunc(r.Members, func(m memberRow) bool { return m.API == "" }) {
			return r, err
		}
		select {
		case <-again.C:
		case <-soon.C:
			return r, nil
		case <-s.ctx.Done():
			return nil, s.ctx.Err()
		}
	}
}

// announcing is how often is looked whether a member has told its address, which
// takes it an entry of the log, announcePatience for how long.
const (
	announcing       = 100 * time.Millisecond
	announcePatience = 3 * time.Second
)

// lookOnce asks one node, then each member it names.
func (s *session) lookOnce() (*statusResult, error) {
	st, err := s.statusOf("", s.timeout)
	if err != nil {
		return nil, err
	}
	node, state := st.NodeID, st.State
	if st.Meta.Leader != "" { // the leader knows more of the others
		if l, err := s.statusOf(st.Meta.Leader, memberPatience); err == nil && l.Meta.Cluster == st.Meta.Cluster {
			st = l
		}
	}
	r := resultOf(&st)
	r.Node, r.State = node, state
	s.askMembers(r)
	if r.Leader == "" {
		r.Leader = r.leaderByMembers()
	}
	return r, nil
}

// leaderByMembers gives the leader by what the members say, where the one asked
// has not heard of its address yet: the address, or the id of one that has
// announced none.
func (r *statusResult) leaderByMembers() string {
	for _, m := range r.Members {
		if m.State == "leader" {
			return m.API
		}
	}
	for _, m := range r.Members {
		if m.Role == "leader" && m.API == "" {
			return m.ID
		}
	}
	return ""
}

// memberPatience is how long one member may take to tell how it is.
const memberPatience = time.Second

// statusOf asks the node at addr, or any if it is empty.
func (s *session) statusOf(addr string, most time.Duration) (offset.Status, error) {
	ctx, cancel := s.within(min(most, s.timeout))
	defer cancel()
	return s.Status(ctx, addr)
}

// nameOfImport is its id, empty where the nodes do not tell it.
func nameOfImport(i *offset.ImportStatus) string {
	if i.ID.IsZero() {
		return ""
	}
	return i.ID.String()
}

func resultOf(st *offset.Status) *statusResult {
	r := &statusResult{
		ClusterID: st.Meta.Cluster.String(), Leader: st.Meta.Leader,
		Term: st.Term, Index: st.Meta.Index, Level: st.Level, Groups: st.Groups, Queues: st.Queues,
		Version: st.Version, Members: []memberRow{}, Problems: []string{},
	}
	if i := st.Import; i != nil {
		r.Import = &importRow{nameOfImport(i), i.Mode == offset.ImportReplace, i.Group, i.Next, i.Chunks, i.Offsets}
	}
	for _, m := range st.Members {
		role := "nonvoter"
		switch {
		case m.Leader:
			role = "leader"
		case m.Voter:
			role = "voter"
		}
		contact := int64(-1)
		if m.ContactAge >= 0 {
			contact = m.ContactAge.Milliseconds()
		}
		r.Members = append(r.Members, memberRow{ID: m.ID, Peer: m.Peer, API: m.API, Role: role, State: "unreachable", MaxLevel: m.MaxLevel, Match: m.Match, ContactMS: contact})
	}
	return r
}

// askMembers asks each member for its own view; there are at most
// offset.MaxMembers. It returns when all have answered or their time is over.
func (s *session) askMembers(r *statusResult) {
	var all sync.WaitGroup
	for i := range r.Members {
		m := &r.Members[i]
		if m.API == "" {
			m.State = "not announced"
			continue
		}
		all.Go(func() {
			st, err := s.statusOf(m.API, memberPatience)
			if err != nil || st.NodeID != m.ID {
				return
			}
			m.State, m.Index, m.NotReady, m.vitals = st.State, st.DigestIndex, st.NotReady, st.Vitals
			m.Digest = st.Digest.String()[:12]
		})
	}
	all.Wait()
}

// judge lists what is wrong.
func (r *statusResult) judge() {
	for i := range r.Members {
		m := &r.Members[i]
		switch {
		case m.State == "unreachable", m.State == "not announced":
			r.Problems = append(r.Problems, fmt.Sprintf("member %s is %s", shown(m.ID), m.State))
		case m.NotReady != "":
			r.Problems = append(r.Problems, fmt.Sprintf("member %s is not ready: %s", shown(m.ID), m.NotReady))
		}
		if low := lowSpace(&m.vitals); low != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("member %s %s", shown(m.ID), low))
		}
		for _, o := range r.Members[:i] {
			if o.Index == m.Index && o.Digest != m.Digest && o.Digest != "" && m.Digest != "" {
				r.Problems = append(r.Problems, fmt.Sprintf("members %s and %s hold different states at index %d", shown(o.ID), shown(m.ID), m.Index))
			}
		}
	}
}
