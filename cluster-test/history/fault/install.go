package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// Installs are faults for members that keep no log behind a snapshot.
func Installs() []Fault {
	return []Fault{{Name: "a follower falls behind, and is sent a snapshot", Needs: networked, Alone: true, Inject: behind}}
}

// fallBack is how many entries a follower misses, at least.
const fallBack = 20

// behind cuts a follower off, not from clients, until the others have gone on and
// taken snapshots, and lets it back: what it missed is in no log any more.
func behind(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, _, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	name, rest := others[0], []string{leader, others[1]}
	for _, o := range rest {
		a.Net().Cut(name, o)
		a.Net().Cut(o, name)
		defer a.Net().Heal(name, o)
		defer a.Net().Heal(o, name)
	}
	s, err := Status(ctx, a, name)
	if err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, o := range rest {
		if err := until(bound, o+" goes on", func() bool {
			now, err := Status(bound, a, o)
			return err == nil && now.Meta.Index > s.Meta.Index+fallBack
		}); err != nil {
			return nil, err
		}
		if _, err := a.Node(o).Snapshot(bound); err != nil {
			return nil, fmt.Errorf("a snapshot of %s: %w", o, err)
		}
	}
	return &Wound{On: name, Lasts: time.Millisecond, Effect: func(ctx context.Context) (string, error) {
		return fmt.Sprintf("it has one of index %d or later", s.Meta.Index+fallBack), until(ctx, "a snapshot at "+name, func() bool {
			now, err := Status(ctx, a, name)
			return err == nil && now.SnapshotIndex > s.Meta.Index+fallBack
		})
	}}, nil
}
