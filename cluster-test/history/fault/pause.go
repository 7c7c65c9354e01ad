package fault

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

func list(names []string) string { return strings.Join(names, ", ") }

// pauses are processes that stand still and go on (SIGSTOP, SIGCONT).
func pauses() []Fault {
	processes := func(a arena.Arena) bool { return a.Net() == nil }
	return []Fault{
		{Name: "pause of the leader", Needs: processes, Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			leader, term, _, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			return paused(a, r, leader, another(a, leader, term))
		}},
		{Name: "pause of a follower", Needs: processes, Inject: func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
			_, _, others, err := victims(ctx, a, r)
			if err != nil {
				return nil, err
			}
			return paused(a, r, others[0], silent(a, others[0]))
		}},
	}
}

// paused pauses a node, for 1 to 60 s where there is time.
func paused(a arena.Arena, r *rand.Rand, name string, effect func(context.Context) (string, error)) (*Wound, error) {
	if err := a.Pause(name); err != nil {
		return nil, err
	}
	lasts := time.Second + time.Duration(r.Int64N(int64(effort.Of(2*time.Second, 12*time.Second))))
	if effort.Soak() && r.IntN(6) == 0 {
		lasts = time.Minute
	}
	return &Wound{On: name, Lasts: lasts, Effect: effect, Heal: func(context.Context) error {
		if !a.Running(name) { // killed by another fault
			return nil
		}
		return a.Resume(name)
	}}, nil
}
