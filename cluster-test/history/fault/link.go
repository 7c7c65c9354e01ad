package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/offset"
)

// links are networks that reach everywhere, badly.
func links() []Fault {
	return []Fault{
		{Name: "slow links of the leader", Needs: networked, Inject: slow},
		{Name: "connections between members reset", Needs: networked, Inject: resets},
		{Name: "clients do not reach the leader", Needs: networked, Inject: unreachable},
		{Name: "answers of the leader to clients are lost", Needs: networked, Inject: unanswered},
	}
}

// slow delays all that the leader says and hears, each link by a time of its own,
// so that what travels on different connections overtakes.
func slow(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, _, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	least := 20 * time.Millisecond
	for _, o := range others {
		a.Net().Slow(leader, o, least+time.Duration(r.IntN(40))*time.Millisecond)
		a.Net().Slow(o, leader, least+time.Duration(r.IntN(40))*time.Millisecond)
	}
	return &Wound{
		On: leader,
		Effect: func(ctx context.Context) (string, error) {
			var took time.Duration
			err := until(ctx, "a slow read", func() bool {
				began := time.Now()
				call, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				_, err := a.Node(leader).List(call, &offset.List{Limit: 1})
				took = time.Since(began)
				return err == nil && took > 2*least || err != nil
			})
			return fmt.Sprintf("a read took %v", took.Round(time.Millisecond)), err
		},
		Heal: func(context.Context) error {
			for _, o := range others {
				a.Net().Slow(leader, o, 0)
				a.Net().Slow(o, leader, 0)
			}
			return nil
		},
	}, nil
}

// resets resets connections between members, all at once and then by chance.
func resets(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, _, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, glance) // beside a partition it is not answered
	defer cancel()
	probe, err := a.Net().Host(leader).Dial(bound, a.Peer(others[0]))
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		a.Net().Reset(leader, o)
	}
	for _, o := range others {
		a.Net().Lossy(leader, o, 0.05)
		a.Net().Lossy(o, leader, 0.05)
	}
	return &Wound{
		On: leader,
		Effect: func(context.Context) (string, error) {
			defer probe.Close()
			_ = probe.SetReadDeadline(time.Now().Add(glance))
			_, err := probe.Read(make([]byte, 1))
			if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				return "", fmt.Errorf("a connection that was open before still is: %v", err)
			}
			return fmt.Sprintf("a connection between them: %v", err), nil
		},
		Heal: func(context.Context) error {
			for _, o := range others {
				a.Net().Lossy(leader, o, 0)
				a.Net().Lossy(o, leader, 0)
			}
			return nil
		},
	}, nil
}

func unreachable(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	return fromClients(ctx, a, r, true)
}

func unanswered(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	return fromClients(ctx, a, r, false)
}

// fromClients cuts what clients send to the leader, or what it answers.
func fromClients(ctx context.Context, a arena.Arena, r *rand.Rand, sent bool) (*Wound, error) {
	leader, _, _, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	from, to := leader, arena.Clients
	if sent {
		from, to = to, from
	}
	a.Net().Cut(from, to)
	return &Wound{On: leader, Effect: silent(a, leader), Heal: func(context.Context) error { a.Net().Heal(from, to); return nil }}, nil
}
