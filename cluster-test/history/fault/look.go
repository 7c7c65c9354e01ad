package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/offset"
)

// glance bounds one question to one node.
const glance = 500 * time.Millisecond

// Status asks a node how it is.
func Status(ctx context.Context, a arena.Arena, name string) (offset.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	return a.Node(name).Status(ctx)
}

// Outvoted is in what a node under quarantine says of why it does not serve.
const Outvoted = "this member's state differs from the majority's"

// Leader is the node that leads, of several that say so the one with the newest
// term; false if none says so now.
func Leader(ctx context.Context, a arena.Arena) (name string, term uint64, ok bool) {
	for _, n := range a.Names() {
		if !a.Running(n) {
			continue
		}
		if s, err := Status(ctx, a, n); err == nil && s.State == "leader" && s.Term > term {
			name, term, ok = n, s.Term, true
		}
	}
	return name, term, ok
}

// WaitLeader waits within ctx for a leader that is ready.
func WaitLeader(ctx context.Context, a arena.Arena) (name string, term uint64, err error) {
	err = until(ctx, "a node leads", func() bool {
		var ok bool
		if name, term, ok = Leader(ctx, a); !ok {
			return false
		}
		s, err := Status(ctx, a, name)
		return err == nil && s.NotReady == ""
	})
	return name, term, err
}

// until waits within ctx for a condition.
func until(ctx context.Context, what string, ok func() bool) error {
	for !ok() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not seen in time: %s", what)
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
	return nil
}

// another is the effect that somebody else leads than at term.
func another(a arena.Arena, old string, term uint64) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		seen := ""
		err := until(ctx, "another leader than "+old, func() bool {
			name, t, ok := Leader(ctx, a)
			if ok && t > term && name != old {
				seen = fmt.Sprintf("%s leads in term %d", name, t)
			}
			return seen != ""
		})
		return seen, err
	}
}

// silent is the effect that none of these nodes answers.
func silent(a arena.Arena, names ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := until(ctx, "silence of "+fmt.Sprint(names), func() bool {
			for _, n := range names {
				if _, err := Status(ctx, a, n); err == nil {
					return false
				}
			}
			return true
		})
		return fmt.Sprint(names, " silent"), err
	}
}

// stuck is the effect that a node gives no linearizable read.
func stuck(a arena.Arena, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var last error
		err := until(ctx, "reads fail at "+name, func() bool {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			_, last = a.Node(name).List(ctx, &offset.List{Limit: 1})
			return last != nil
		})
		return fmt.Sprintf("%s: %v", name, offset.CodeOf(last)), err
	}
}

// unheard is the effect that a node has heard of no leader for a while, or has
// a new one.
func unheard(a arena.Arena, name string, term uint64) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		seen := ""
		err := until(ctx, name+" hears no leader", func() bool {
			s, err := Status(ctx, a, name)
			switch {
			case err != nil:
			case s.Meta.Age > 300*time.Millisecond || s.State == "candidate":
				seen = fmt.Sprintf("%s has heard no leader for %v", name, s.Meta.Age.Round(time.Millisecond))
			case s.Term > term:
				seen = fmt.Sprintf("%s is in term %d", name, s.Term)
			}
			return seen != ""
		})
		return seen, err
	}
}

var errNoLeader = errors.New("there is no leader to do it to")

// victims are the leader and, in an order that is drawn, all other nodes that run.
func victims(ctx context.Context, a arena.Arena, r *rand.Rand) (leader string, term uint64, others []string, err error) {
	leader, term, ok := Leader(ctx, a)
	if !ok {
		return "", 0, nil, errNoLeader
	}
	for _, n := range a.Names() {
		if n != leader && a.Running(n) && member(ctx, a, leader, n) {
			others = append(others, n)
		}
	}
	if len(others) < 2 {
		return "", 0, nil, errors.New("there are not three members that run")
	}
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return leader, term, others, nil
}

// member tells whether a node is a voter of the cluster, by its name.
func member(ctx context.Context, a arena.Arena, leader, name string) bool {
	s, err := Status(ctx, a, leader)
	if err != nil {
		return false
	}
	for _, m := range s.Members {
		if m.Voter && m.Peer == a.Peer(name) {
			return true
		}
	}
	return false
}
