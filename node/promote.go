package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

// promoteMember makes a nonvoter a voter, once it and all voters hold what this
// member held when asked, and waits a little until the voters hold the change.
//
// All voters must, since in the library a member refuses its vote to a candidate
// that its own configuration does not have as a voter, whatever the candidate's log
// (in the thesis, 4.1, it grants it). A voter that was away during a promotion and
// comes back when the leader has gone would refuse the promoted one, which alone
// has the longer log: two of three would be up, and nobody would be elected.
func (r *replica) promoteMember(ctx context.Context, who string) error {
	servers := r.servers()
	s, err := find(servers, who)
	if err != nil {
		return err
	}
	if s.Suffrage == raft.Voter {
		return nil
	}
	term, last := r.raft.CurrentTerm(), r.raft.LastIndex()
	if err := r.checkAllAnswer(ctx, term, voters(servers)); err != nil {
		return err
	}
	late, err := r.inStep(ctx, term, last, append(voters(servers), s))
	if err != nil {
		return err
	}
	if len(late) > 0 {
		return offset.Errorf(offset.ErrBusy, "%s: not in step with the log up to index %d yet; promote it later", strings.Join(late, ", "), last)
	}
	f := r.raft.AddVoter(s.ID, s.Address, 0, r.changeTime(ctx))
	if err := changed(await(ctx, f)); err != nil {
		return err
	}
	r.tellLate(ctx, term, f.Index(), append(voters(servers), s))
	return nil
}

// voters are those of the servers that vote.
func voters(servers []raft.Server) (list []raft.Server) {
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			list = append(list, s)
		}
	}
	return list
}

// checkAllAnswer refuses a promotion while one of the voters is away.
func (r *replica) checkAllAnswer(ctx context.Context, term uint64, voters []raft.Server) error {
	began, silent := time.Now(), []string(nil)
	bound, cancel := context.WithTimeout(ctx, 2*r.config.Timers.Election)
	defer cancel()
	err := r.awaitAcks(bound, term, func() bool {
		silent = r.silent(voters, began)
		return len(silent) == 0
	})
	if err == nil || errors.Is(err, offset.ErrNotLeader) {
		return err
	}
	return offset.Errorf(offset.ErrDenied, "%s does not answer, and would not know of the promotion: if this leader were lost before it had heard of it, nobody could be elected; bring it back, or take it out with `tidemark cluster remove`",
		strings.Join(silent, ", "))
}

// inStep waits until the members hold the log up to index, and names those that
// do not when ctx ends.
func (r *replica) inStep(ctx context.Context, term, index uint64, members []raft.Server) (late []string, err error) {
	err = r.awaitAcks(ctx, term, func() bool {
		late = nil
		for _, s := range members {
			if r.acks.of(s.ID, term).match < index && s.ID != raft.ServerID(r.id) {
				late = append(late, string(s.ID))
			}
		}
		return len(late) == 0
	})
	if errors.Is(err, offset.ErrNotLeader) {
		return nil, err
	}
	return late, nil
}

// tellLate waits for the members that have not heard of a promotion that is done,
// and logs which of them still have not.
func (r *replica) tellLate(ctx context.Context, term, index uint64, members []raft.Server) {
	bound, cancel := context.WithTimeout(ctx, 2*r.config.Timers.Election)
	defer cancel()
	if late, err := r.inStep(bound, term, index, members); err == nil && len(late) > 0 {
		r.config.Logger.Warn("a member has been promoted, and some have not heard of it yet; do not stop this leader before they have",
			"late", strings.Join(late, ", "), "index", index)
	}
}
