package main

import (
	"context"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// changeResult is what a command on the cluster did or would do.
type changeResult struct {
	Change   string `json:"change"`
	Executed bool   `json:"executed"`
	Leader   string `json:"leader,omitempty"`
	Index    uint64 `json:"index,string,omitempty"`
	Bytes    uint64 `json:"bytes,string,omitempty"`
}

func (r *changeResult) table(t *table) {
	if r.Executed {
		t.line("done: %s", r.Change)
		return
	}
	t.line("would %s; nothing was done yet, add --execute", r.Change)
}

// execute is the flag that lets a command change something.
type execute struct {
	Execute bool `help:"Do it; without this, only show what would be done."`
}

// change shows what it would do, if may finds no reason why the cluster would
// refuse it; or does it, and lets the cluster decide.
func (s *session) change(e execute, what string, may func(*statusResult) error, do func(context.Context) error) error {
	if err := s.foresee(e, may); err != nil {
		return err
	}
	if e.Execute {
		ctx, cancel := s.call()
		defer cancel()
		if err := do(ctx); err != nil {
			return err
		}
		s.changed = true
	}
	return s.print(&changeResult{Change: what, Executed: e.Execute})
}

// memberArg names a member.
type memberArg struct {
	ID string `arg:"" help:"The member, \"name/member-id\", as \"cluster status\" and the member's own log show it." placeholder:"NAME/ID"`
}

func (m memberArg) check() error { return offset.ValidateName("member", m.ID, false) }

// addCmd adds a member.
type addCmd struct {
	memberArg
	Address string `arg:"" help:"Its peer address (host:port) as the others reach it." placeholder:"HOST:PORT"`
	execute
}

// Run adds a nonvoter.
func (c *addCmd) Run(s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := validateNew(c.ID, c.Address); err != nil {
		return err
	}
	may := func(r *statusResult) error { return r.mayAdd(c.ID, c.Address) }
	what := fmt.Sprintf("add %s at %s as a nonvoter; promote it when it has caught up", shown(c.ID), shown(c.Address))
	return s.change(c.execute, what, may, func(ctx context.Context) error {
		_, err := s.AddMember(ctx, c.ID, c.Address)
		return err
	})
}

// promoteCmd promotes a member.
type promoteCmd struct {
	memberArg
	execute
}

// Run makes it a voter.
func (c *promoteCmd) Run(s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	may := func(r *statusResult) error { _, err := r.find(c.ID); return err }
	return s.change(c.execute, fmt.Sprintf("make %s a voter", shown(c.ID)), may, func(ctx context.Context) error {
		_, err := s.PromoteMember(ctx, c.ID)
		return err
	})
}

// removeCmd removes a member.
type removeCmd struct {
	memberArg
	execute
}

// Run takes it out of the cluster.
func (c *removeCmd) Run(s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	may := func(r *statusResult) error { return r.mayRemove(c.ID) }
	return s.change(c.execute, fmt.Sprintf("take %s out of the cluster", shown(c.ID)), may, func(ctx context.Context) error {
		_, err := s.RemoveMember(ctx, c.ID)
		return err
	})
}

// transferCmd hands leadership over.
type transferCmd struct {
	To string `arg:"" optional:"" help:"The voter that is to lead; if not given, any that has caught up." placeholder:"NAME/ID"`
	execute
}

// Run transfers leadership.
func (c *transferCmd) Run(s *session) error {
	to := "any voter that has caught up"
	if c.To != "" {
		to = shown(c.To)
	}
	r := &changeResult{Change: "hand leadership to " + to, Executed: c.Execute}
	err := s.foresee(c.execute, func(st *statusResult) error {
		r.Leader = st.Leader
		return st.mayTransfer(c.To)
	})
	if err != nil {
		return err
	}
	if c.Execute {
		ctx, cancel := s.call()
		defer cancel()
		if r.Leader, _, err = s.Transfer(ctx, c.To); err != nil {
			return err
		}
		s.changed = true
		r.Change = "leadership is with " + shown(r.Leader)
	}
	return s.print(r)
}

// raiseCmd raises the format level.
type raiseCmd struct {
	Level uint8 `arg:"" help:"The level that entries and snapshots may have from now on."`
	execute
}

// Run raises it; a member that does not read it stands in the way.
func (c *raiseCmd) Run(s *session) error {
	may := func(r *statusResult) error { return r.mayRaise(c.Level) }
	return s.change(c.execute, fmt.Sprintf("raise the format level to %d, which older builds do not read", c.Level), may, func(ctx context.Context) error {
		_, err := s.RaiseLevel(ctx, c.Level)
		return err
	})
}

// snapshotCmd takes a snapshot.
type snapshotCmd struct {
	Node string `help:"API address of the node; the first that answers if not given." placeholder:"HOST:PORT"`
}

// Run takes a snapshot at once: it changes nothing that a reader could see.
func (c *snapshotCmd) Run(s *session) error {
	ctx, cancel := s.call()
	defer cancel()
	index, bytes, _, err := s.Snapshot(ctx, c.Node)
	if err != nil {
		return err
	}
	return s.print(&changeResult{Change: fmt.Sprintf("snapshot of %d bytes at index %d", bytes, index), Executed: true, Index: index, Bytes: bytes})
}
