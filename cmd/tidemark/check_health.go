package main

import (
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// healthCmd looks at all members.
type healthCmd struct{}

// healthResult is how the members are.
type healthResult struct {
	ClusterID string      `json:"clusterId"`
	Leader    string      `json:"leader"`
	Term      uint64      `json:"term,string"`
	Level     uint8       `json:"formatLevel"`
	Members   []healthRow `json:"members"`
	findings
	// seen is what each member said, in the order of Members.
	seen []seen
}

// healthRow is one member.
type healthRow struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	// State is the member's own word, "unreachable" where it gave none.
	State string `json:"state"`
	Ready bool   `json:"ready"`
	// Lag is how many entries of the log it does not hold yet; -1 where nobody knows.
	Lag int64 `json:"lag,string"`
	// ContactMS is the time since the leader heard of it; -1 where nobody knows.
	ContactMS int64  `json:"contactMs"`
	Level     uint8  `json:"maxFormatLevel"`
	Version   string `json:"version,omitempty"`
	Index     uint64 `json:"index,string"`
	Digest    string `json:"digest,omitempty"`
	// SkewMS is how far its clock is ahead of the leader's.
	SkewMS int64 `json:"clockSkewMs"`
	// The disk: space, and the mean and longest of its writes since the start.
	DiskFree  uint64     `json:"diskFree,string"`
	DiskTotal uint64     `json:"diskTotal,string"`
	Mean      durationUS `json:"writeMeanUs"`
	Longest   durationUS `json:"writeLongestUs"`
	LeaseMS   int64      `json:"leaseMs"`
}

// seen is what a member said, and when.
type seen struct {
	offset.Status
	err error
	// ahead is how far its clock was ahead of ours, give or take slack.
	ahead, slack time.Duration
}

func (r *healthResult) table(t *table) {
	leader := r.Leader
	if leader == "" {
		leader = "none"
	}
	t.line("cluster %s: leader %s, term %d, format level %d", r.ClusterID, leader, r.Term, r.Level)
	t.row("MEMBER", "ROLE", "STATE", "READY", "LAG", "CONTACT", "INDEX", "DIGEST", "CLOCK", "DISK FREE", "WRITE MEAN", "LONGEST", "VERSION")
	for _, m := range r.Members {
		if m.State == "unreachable" {
			t.row(shown(m.ID), m.Role, m.State, "-", "-", "-", "-", "-", "-", "-", "-", "-", "-")
			continue
		}
		contact, lag := "-", "-"
		if m.ContactMS >= 0 {
			contact = span(time.Duration(m.ContactMS) * time.Millisecond)
		}
		if m.Lag >= 0 {
			lag = num(m.Lag)
		}
		t.row(shown(m.ID), m.Role, m.State, map[bool]string{true: "yes", false: "no"}[m.Ready], lag, contact, num(m.Index), m.Digest,
			span(time.Duration(m.SkewMS)*time.Millisecond), bytesOf(m.DiskFree), m.Mean.String(), m.Longest.String(), m.Version)
	}
	r.findings.table(t)
}

// Run asks all members at once, and judges. Exit code 5: something is wrong; 8:
// nobody leads.
func (healthCmd) Run(s *session) error {
	r, err := s.health()
	if err != nil {
		return err
	}
	r.judge()
	if err := s.print(r); err != nil {
		return err
	}
	if r.Leader == "" {
		return errNoLeader
	}
	return r.err()
}

// health looks who is there and leads, then asks each member all that it says
// of itself.
func (s *session) health() (*healthResult, error) {
	look, err := s.look()
	if err != nil {
		return nil, err
	}
	st, err := s.statusOf("", s.timeout)
	if err != nil {
		return nil, err
	}
	if l, err := s.statusOf(look.Leader, memberPatience); err == nil && l.Meta.Cluster == st.Meta.Cluster {
		st = l // the leader knows more of the others
	}
	base := resultOf(&st)
	r := &healthResult{ClusterID: base.ClusterID, Leader: look.Leader, Term: base.Term, Level: base.Level, findings: newFindings()}
	r.seen = s.see(&st)
	for i, m := range base.Members {
		r.Members = append(r.Members, r.row(&m, &st, &r.seen[i]))
	}
	r.skews()
	if i := base.Import; i != nil {
		r.note("an import is under way: chunk %d of %d", i.Next, i.Chunks)
	}
	return r, nil
}

// see asks each member, and gives what came in the order of st's. There are at
// most offset.MaxMembers; it returns when all have answered or their time is over.
func (s *session) see(st *offset.Status) []seen {
	list := make([]seen, len(st.Members))
	var all sync.WaitGroup
	for i, m := range st.Members {
		all.Go(func() {
			x := &list[i]
			if m.API == "" {
				x.err = offset.Errorf(offset.ErrUnreachable, "its API address is not announced yet")
				return
			}
			from := s.clock()
			x.Status, x.err = s.statusOf(m.API, memberPatience)
			x.slack = s.clock().Sub(from) / 2
			x.ahead = time.UnixMilli(x.Vitals.Clock).Sub(from.Add(x.slack))
			if x.err == nil && x.NodeID != m.ID {
				x.err = offset.Errorf(offset.ErrUnreachable, "%s answers at its address", x.NodeID)
			}
		})
	}
	all.Wait()
	return list
}

// row puts together what the leader and the member say of the member.
func (r *healthResult) row(m *memberRow, st *offset.Status, x *seen) healthRow {
	h := healthRow{ID: m.ID, Role: m.Role, State: "unreachable", Lag: -1, ContactMS: m.ContactMS}
	if m.Match >= 0 {
		h.Lag = max(int64(st.LastIndex)-m.Match, 0)
	}
	if x.err != nil {
		return h
	}
	v := &x.Vitals
	h.State, h.Ready, h.Level, h.Version, h.Index = x.State, x.NotReady == "", x.MaxLevel, x.Version, x.DigestIndex
	h.Digest = x.Digest.String()[:12]
	h.DiskFree, h.DiskTotal, h.LeaseMS = v.DiskFree, v.DiskTotal, v.Lease.Milliseconds()
	h.Longest = us(v.DiskLongest)
	if v.DiskWrites > 0 {
		h.Mean = us(v.DiskTime / time.Duration(v.DiskWrites))
	}
	return h
}

// skews takes the leader's clock for right, or the first that is known.
func (r *healthResult) skews() {
	ref := -1
	for i, m := range r.Members {
		if r.seen[i].err == nil && r.seen[i].Vitals.Clock > 0 && (ref < 0 || m.Role == "leader") {
			ref = i
		}
	}
	for i := range r.Members {
		if r.seen[i].err == nil && r.seen[i].Vitals.Clock > 0 {
			r.Members[i].SkewMS = (r.seen[i].ahead - r.seen[ref].ahead).Milliseconds()
		}
	}
}
