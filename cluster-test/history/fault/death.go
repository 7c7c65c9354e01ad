package fault

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// deaths are nodes that end, as a crash ends them or cleanly, and come back.
func deaths() []Fault {
	return []Fault{
		{Name: "kill -9 of the leader", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			leader, term, _, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			return ended(a, arena.Arena.Kill, another(a, leader, term), leader)
		}},
		{Name: "kill -9 of the leader while a follower lags", Needs: networked, Inject: lagging},
		{Name: "kill -9 of a follower", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			_, _, others, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			return ended(a, arena.Arena.Kill, silent(a, others[0]), others[0])
		}},
		{Name: "kill -9 of two", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			leader, _, others, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			rest := others[1]
			both := []string{leader, others[0]}
			if r.IntN(2) == 0 {
				both, rest = others[:2], leader
			}
			return ended(a, arena.Arena.Kill, stuck(a, rest), both...)
		}},
		{Name: "kill -9 of all", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			leader, _, others, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			all := append(others, leader)
			return ended(a, arena.Arena.Kill, silent(a, all...), all...)
		}},
		{Name: "kill -9 of all, behind snapshots", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			leader, _, others, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			if _, err := snapshots(ctx, a, r); err != nil {
				return nil, err
			}
			all := append(others, leader)
			return ended(a, arena.Arena.Kill, silent(a, all...), all...)
		}},
		{Name: "restart of the leader", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			leader, term, _, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			return ended(a, arena.Arena.Stop, another(a, leader, term), leader)
		}},
		{Name: "restart of a follower", Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			_, _, others, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			return ended(a, arena.Arena.Stop, silent(a, others[0]), others[0])
		}},
	}
}

// lagging has a follower hear of entries later than the other one, and kills the
// leader: it lacks what the other one has acknowledged.
func lagging(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, term, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	a.Net().Slow(leader, others[0], 150*time.Millisecond)
	rest(ctx, 500*time.Millisecond) // until it lags
	w, err := ended(a, arena.Arena.Kill, another(a, leader, term), leader)
	a.Net().Heal(leader, others[0])
	return w, err
}

// ended ends nodes, and starts them again to heal.
func ended(a arena.Arena, end func(arena.Arena, string) error, effect func(context.Context) (string, error), names ...string) (*Wound, error) {
	var err error
	for _, n := range names {
		err = errors.Join(err, end(a, n))
	}
	if err != nil {
		return nil, err
	}
	return &Wound{On: list(names), Effect: effect, Heal: func(context.Context) error {
		var err error
		for _, n := range names {
			err = errors.Join(err, a.Start(n))
		}
		return err
	}}, nil
}
