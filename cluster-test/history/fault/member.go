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

// members are changes of who belongs to the cluster.
func members() []Fault {
	return []Fault{
		{Name: "a member is lost and replaced", Needs: networked, Alone: true, Inject: replaced},
		{Name: "a member is added, promoted and removed", Alone: true, Inject: passing},
	}
}

// memberTime bounds each change of the members.
const memberTime = 20 * time.Second

// persist has the leader of the moment do something until it is done.
func persist(ctx context.Context, a arena.Arena, do func(ctx context.Context, leader arena.Node) error) error {
	var last error
	err := until(ctx, "a change of the members", func() bool {
		name, _, err := WaitLeader(ctx, a)
		if err != nil {
			return false
		}
		call, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		last = do(call, a.Node(name))
		return last == nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// id waits for the id of a node that has just started.
func id(ctx context.Context, a arena.Arena, name string) (id string, err error) {
	err = until(ctx, name+" has an id", func() bool {
		s, err := Status(ctx, a, name)
		id = s.NodeID
		return err == nil && id != ""
	})
	return id, err
}

// join brings a node in, as a voter.
func join(ctx context.Context, a arena.Arena, name, id string) error {
	if err := persist(ctx, a, func(ctx context.Context, l arena.Node) error {
		if _, ok, err := found(ctx, l, id); ok || err != nil {
			return err
		}
		return l.AddMember(ctx, id, a.Peer(name))
	}); err != nil {
		return fmt.Errorf("adding %s: %w", id, err)
	}
	if err := persist(ctx, a, func(ctx context.Context, l arena.Node) error {
		if m, _, err := found(ctx, l, id); m.Voter || err != nil {
			return err
		}
		return l.PromoteMember(ctx, id)
	}); err != nil {
		return fmt.Errorf("promoting %s: %w", id, err)
	}
	return nil
}

// leave takes a member out.
func leave(ctx context.Context, a arena.Arena, id string) error {
	err := persist(ctx, a, func(ctx context.Context, l arena.Node) error {
		if _, ok, err := found(ctx, l, id); !ok || err != nil {
			return err
		}
		return l.RemoveMember(ctx, id)
	})
	if err != nil {
		return fmt.Errorf("removing %s: %w", id, err)
	}
	return nil
}

// found looks for a member in what a node says of the cluster.
func found(ctx context.Context, n arena.Node, id string) (m offset.MemberStatus, ok bool, err error) {
	s, err := n.Status(ctx)
	for _, m := range s.Members {
		if m.ID == id {
			return m, true, err
		}
	}
	return m, false, err
}

// replaced has a follower lose its disk: it is taken out, and comes back as a
// new member.
func replaced(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	_, _, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	name := others[0]
	s, err := Status(ctx, a, name)
	if err != nil {
		return nil, err
	}
	return &Wound{
		On: name,
		Effect: func(ctx context.Context) (string, error) {
			if err := a.Kill(name); err != nil {
				return "", err
			}
			fresh, err := renew(ctx, a, name, s.NodeID)
			return fmt.Sprintf("%s in the place of %s", fresh, s.NodeID), err
		},
	}, nil
}

// renew brings a node that does not run back as a new member, in the place of
// the one with the id old.
func renew(ctx context.Context, a arena.Arena, name, old string) (fresh string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*memberTime)
	defer cancel()
	for _, step := range []func() error{
		func() error { return a.Wipe(name) },
		func() error { return leave(ctx, a, old) },
		func() error { return a.Start(name) },
		func() (err error) { fresh, err = id(ctx, a, name); return err },
		func() error { return join(ctx, a, name, fresh) },
	} {
		if err := step(); err != nil {
			return "", err
		}
	}
	return fresh, nil
}

// passing adds a node, makes it a voter, and takes it out again.
func passing(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	if _, _, _, err := victims(ctx, a, r); err != nil {
		return nil, err
	}
	name, err := a.Add()
	if err != nil {
		return nil, err
	}
	return &Wound{On: name, Effect: func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*memberTime)
		defer cancel()
		new, err := id(ctx, a, name)
		if err == nil {
			err = join(ctx, a, name, new)
		}
		if err == nil {
			err = leave(ctx, a, new)
		}
		return new + " was a voter", errors.Join(err, a.Kill(name))
	}}, nil
}
