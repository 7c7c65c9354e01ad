package main

import (
	"net"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// foresee tells, without --execute, why the cluster would refuse a change, as
// far as its status shows; the code is that of the cluster's own refusal. With
// --execute it only makes sure that a node answers: the cluster decides, by
// what is then.
func (s *session) foresee(e execute, may func(*statusResult) error) error {
	if e.Execute {
		_, err := s.statusOf("", s.timeout)
		return err
	}
	r, err := s.look()
	if err != nil {
		return err
	}
	if r.Leader == "" {
		return errNoLeader
	}
	return may(r)
}

// find returns the one member that who, an id or a name, means.
func (r *statusResult) find(who string) (*memberRow, error) {
	var named []*memberRow
	for i := range r.Members {
		m := &r.Members[i]
		if m.ID == who {
			return m, nil
		}
		if nameOf(m.ID) == who {
			named = append(named, m)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return nil, offset.Errorf(offset.ErrNotFound, "no member is %q; `tidemark cluster status` lists them", who)
	}
	return nil, offset.Errorf(offset.ErrInvalid, "%d members are named %q; name one by its id", len(named), who)
}

// nameOf is the name part of a member's id.
func nameOf(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return name
}

// validateNew refuses what is no member id or no address.
func validateNew(id, address string) error {
	if name, rest, ok := strings.Cut(id, "/"); !ok || name == "" || rest == "" {
		return offset.Errorf(offset.ErrInvalid, "member id %q is not name/member-id; the member's own log and status name it", id)
	}
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
		return offset.Errorf(offset.ErrInvalid, "peer address %q is not host:port", address)
	}
	return nil
}

// mayAdd refuses names and addresses that are taken. The id of a member with
// another address moves that member.
func (r *statusResult) mayAdd(id, address string) error {
	for _, m := range r.Members {
		if taken := nameOf(m.ID) == nameOf(id) || m.Peer == address; taken && m.ID != id {
			return offset.Errorf(offset.ErrInvalid, "%s at %s is a member already; remove it first: `tidemark cluster remove %s`", m.ID, m.Peer, m.ID)
		}
	}
	if _, err := r.find(id); err != nil && len(r.Members) >= offset.MaxMembers {
		return offset.Errorf(offset.ErrLimit, "the cluster has %d members, which is the most", len(r.Members))
	}
	return nil
}

// mayRemove refuses to take out a voter without which too few would answer.
func (r *statusResult) mayRemove(who string) error {
	gone, err := r.find(who)
	if err != nil || !gone.votes() {
		return err
	}
	rest := 0
	var silent []string
	for i := range r.Members {
		if m := &r.Members[i]; m != gone && m.votes() {
			rest++
			if m.silent() {
				silent = append(silent, m.ID)
			}
		}
	}
	switch {
	case rest == 0:
		return offset.Errorf(offset.ErrInvalid, "%s is the only voter; without it the cluster is gone", gone.ID)
	case rest-len(silent) <= rest/2:
		return offset.Errorf(offset.ErrDenied, "without %s there would be %d voters, and of these %s does not answer, so the cluster would stand still; bring that one back, or take it out first with `tidemark cluster remove`",
			gone.ID, rest, strings.Join(silent, ", "))
	}
	return nil
}

// mayTransfer refuses a transfer to who does not vote, leads already, or does
// not answer; to is empty for any voter.
func (r *statusResult) mayTransfer(to string) error {
	voters := 0
	var silent []string
	for i := range r.Members {
		m := &r.Members[i]
		means := to == "" || m.ID == to || nameOf(m.ID) == to
		switch {
		case !means, m.Role == "nonvoter":
		case m.Role == "leader" && to != "":
			return offset.Errorf(offset.ErrInvalid, "%s leads already", to)
		case m.Role == "voter":
			voters++
			if m.silent() {
				silent = append(silent, m.ID)
			}
		}
	}
	switch {
	case voters == 0 && to == "":
		return offset.Errorf(offset.ErrNotFound, "there is no voter other than the leader; `tidemark cluster status` lists the members")
	case voters == 0:
		return offset.Errorf(offset.ErrNotFound, "no voter other than the leader is %q; `tidemark cluster status` lists the members", to)
	case len(silent) == voters:
		return offset.Errorf(offset.ErrDenied, "%s does not answer, and so cannot take over; see `tidemark cluster status`", strings.Join(silent, ", "))
	}
	return nil
}

// mayRaise refuses a level that is in use already, or that a member does not read.
func (r *statusResult) mayRaise(level uint8) error {
	if level <= r.Level {
		return offset.Errorf(offset.ErrInvalid, "the cluster uses format level %d already, and it is never lowered", r.Level)
	}
	for i := range r.Members {
		if m := &r.Members[i]; m.MaxLevel < level {
			return offset.Errorf(offset.ErrLevel, "%s reads format levels up to %d", m.ID, m.MaxLevel)
		}
	}
	return nil
}

// votes tells whether the member is a voter, leading or not.
func (m *memberRow) votes() bool { return m.Role != "nonvoter" }

// silentFor is how long a leader has not heard of a member that is taken for
// down: many times what lies between two heartbeats.
const silentFor = 2 * time.Second

// silent tells that the member does not answer, and that the leader has not
// heard of it for long, or never.
func (m *memberRow) silent() bool {
	heard := m.ContactMS >= 0 && m.ContactMS < silentFor.Milliseconds()
	return m.State == "unreachable" && !heard
}
