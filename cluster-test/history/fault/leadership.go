package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// leaderships are what an operator does to leaders and their logs.
func leaderships() []Fault {
	return []Fault{
		{Name: "storm of transfers", Inject: transfers},
		{Name: "snapshots on all nodes", Inject: snapshots},
		{Name: "a clock jumps", Needs: networked, Inject: jump},
	}
}

// transfers hands leadership over several times, whoever has it then.
func transfers(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	_, before, _, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	asked := 3 + r.IntN(4)
	for range asked {
		leader, _, err := WaitLeader(ctx, a)
		if err != nil {
			break
		}
		call, cancel := context.WithTimeout(ctx, 3*time.Second)
		_, _ = a.Node(leader).Transfer(call, "") // refused where none has caught up
		cancel()
	}
	return &Wound{On: fmt.Sprint(asked, " times"), Effect: func(ctx context.Context) (string, error) {
		seen := ""
		err := until(ctx, "a newer term", func() bool {
			name, term, ok := Leader(ctx, a)
			if ok && term > before {
				seen = fmt.Sprintf("%s leads in term %d, before it was %d", name, term, before)
			}
			return seen != ""
		})
		return seen, err
	}}, nil
}

// snapshots has every node that runs take one.
func snapshots(ctx context.Context, a arena.Arena, _ *rand.Rand) (*Wound, error) {
	taken := map[string]uint64{}
	for _, n := range a.Names() {
		if !a.Running(n) {
			continue
		}
		call, cancel := context.WithTimeout(ctx, 10*time.Second)
		if index, err := a.Node(n).Snapshot(call); err == nil && index > 0 {
			taken[n] = index
		}
		cancel()
	}
	if len(taken) == 0 {
		return nil, fmt.Errorf("no node takes a snapshot")
	}
	return &Wound{On: fmt.Sprint(len(taken), " nodes"), Effect: func(ctx context.Context) (string, error) {
		for n, index := range taken {
			err := until(ctx, fmt.Sprintf("the snapshot at %d of %s", index, n), func() bool {
				s, err := Status(ctx, a, n)
				return err == nil && s.SnapshotIndex >= index
			})
			if err != nil {
				return "", err
			}
		}
		return fmt.Sprint("snapshots at ", taken), nil
	}}, nil
}

// jump sets the clock of a node wrong, by up to an hour to either side.
func jump(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	names := a.Names()
	name := names[r.IntN(len(names))]
	by := time.Duration(r.Int64N(int64(2*time.Hour))) - time.Hour
	if by.Abs() < time.Minute {
		by = time.Minute
	}
	if err := a.Skew(name, by); err != nil {
		return nil, err
	}
	return &Wound{
		On: fmt.Sprintf("%s by %v", name, by.Round(time.Second)),
		Effect: func(ctx context.Context) (string, error) {
			seen := ""
			err := until(ctx, "a wrong clock", func() bool {
				s, err := Status(ctx, a, name)
				wrong := time.Until(time.UnixMilli(s.Vitals.Clock))
				if err == nil && (wrong-by).Abs() < 10*time.Second {
					seen = fmt.Sprintf("its clock is wrong by %v", wrong.Round(time.Second))
				}
				return seen != ""
			})
			return seen, err
		},
		Heal: func(context.Context) error { return a.Skew(name, 0) },
	}, nil
}
