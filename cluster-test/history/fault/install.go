package fault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// Installs are faults for members that keep no log behind a snapshot.
func Installs() []Fault {
	return []Fault{
		{Name: "a follower falls behind, and is sent a snapshot", Needs: networked, Alone: true, Inject: behind},
		{Name: "a follower falls behind a leader that has a snapshot alone", Needs: networked, Alone: true, Inject: silence},
	}
}

// fallBack is how many entries a follower misses, at least.
const fallBack = 20

// behind cuts a follower off, not from clients, until the others have gone on and
// taken snapshots, and lets it back: what it missed is in no log any more.
func behind(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	l, err := leaveBehind(ctx, a, r)
	if err != nil {
		return nil, err
	}
	defer l.letBack()
	if err := l.snapshots(ctx); err != nil {
		return nil, err
	}
	return &Wound{On: l.name, Lasts: time.Millisecond, Effect: l.sent}, nil
}

// silence does so and has the others begin anew with nothing but their snapshots:
// clients write nothing any more, so that no command follows.
func silence(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	l, err := leaveBehind(ctx, a, r)
	if err != nil {
		return nil, err
	}
	return &Wound{
		On: l.name, Lasts: time.Millisecond, Effect: l.sent,
		Quiet: func(ctx context.Context) error {
			defer l.letBack()
			return l.beginAnew(ctx)
		},
		Heal: func(context.Context) (err error) {
			for _, n := range l.others {
				if !a.Running(n) {
					err = errors.Join(err, a.Start(n))
				}
			}
			return err
		},
	}, nil
}

// laggard is a follower that the others have left behind.
type laggard struct {
	arena  arena.Arena
	name   string
	others []string
	index  uint64 // of what it missed
}

// leaveBehind cuts a follower off until the others have gone on. After an error it
// is back.
func leaveBehind(ctx context.Context, a arena.Arena, r *rand.Rand) (*laggard, error) {
	leader, _, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	l := &laggard{arena: a, name: others[0], others: []string{leader, others[1]}}
	for _, o := range l.others {
		a.Net().Cut(l.name, o)
		a.Net().Cut(o, l.name)
	}
	s, err := Status(ctx, a, l.name)
	l.index = s.Meta.Index + fallBack
	if err == nil {
		err = l.goOn(ctx)
	}
	if err != nil {
		l.letBack()
		return nil, err
	}
	return l, nil
}

// bound is for what the others do at once.
const bound = 10 * time.Second

func (l *laggard) goOn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for _, o := range l.others {
		if err := until(ctx, o+" goes on", func() bool {
			now, err := Status(ctx, l.arena, o)
			return err == nil && now.Meta.Index > l.index
		}); err != nil {
			return err
		}
	}
	return nil
}

// snapshots has the others take one each.
func (l *laggard) snapshots(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	for _, o := range l.others {
		if _, err := l.arena.Node(o).Snapshot(ctx); err != nil {
			return fmt.Errorf("a snapshot of %s: %w", o, err)
		}
	}
	return nil
}

// beginAnew kills the others behind snapshots that end with entries of raft's own,
// and waits until one of them leads again.
func (l *laggard) beginAnew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	leader, _, err := WaitLeader(ctx, l.arena)
	if err != nil {
		return err
	}
	if _, err := l.arena.Node(leader).Transfer(ctx, ""); err != nil {
		return fmt.Errorf("a transfer from %s: %w", leader, err)
	}
	if _, _, err := WaitLeader(ctx, l.arena); err != nil {
		return err
	}
	if err := l.snapshots(ctx); err != nil {
		return err
	}
	for _, end := range []func(string) error{l.arena.Kill, l.arena.Start} {
		for _, o := range l.others {
			if err := end(o); err != nil {
				return err
			}
		}
	}
	_, _, err = WaitLeader(ctx, l.arena)
	return err
}

func (l *laggard) letBack() {
	for _, o := range l.others {
		l.arena.Net().Heal(l.name, o)
		l.arena.Net().Heal(o, l.name)
	}
}

// sent is the effect that it has got a snapshot.
func (l *laggard) sent(ctx context.Context) (string, error) {
	return fmt.Sprintf("it has one of index %d or later", l.index), until(ctx, "a snapshot at "+l.name, func() bool {
		now, err := Status(ctx, l.arena, l.name)
		return err == nil && now.SnapshotIndex > l.index
	})
}
