//go:build linux

package disks

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
)

// Faults are the faults of disks, for an Arena on the same disks, which may be
// made later.
func Faults(disks map[string]*disk.Disk) []fault.Fault {
	k := kit(disks)
	eio, full := syscall.EIO, syscall.ENOSPC
	return []fault.Fault{
		{Name: "slow disks", Inject: k.all(disk.Behaviour{SyncMin: 50 * time.Millisecond, SyncMax: 300 * time.Millisecond},
			func(m disk.Met) int { return m.Slow })},
		{Name: "stalled fsyncs", Inject: k.all(disk.Behaviour{StallFor: 200 * time.Millisecond, StallEvery: 2 * time.Second},
			func(m disk.Met) int { return m.Stalled })},
		{Name: "hanging disk of the leader", Inject: k.leader(disk.Behaviour{Hang: true}, k.hangs)},
		{Name: "full disk of the leader", Inject: k.leader(disk.Behaviour{Write: full}, k.broken)},
		{Name: "full disk of a follower, at fsync", Inject: k.follower(disk.Behaviour{Sync: full})},
		{Name: "EIO on the leader's fsync", Inject: k.leader(disk.Behaviour{Sync: eio}, k.broken)},
		{Name: "EIO on a follower's write", Inject: k.follower(disk.Behaviour{Write: eio})},
		{Name: "power cut of one", Inject: k.power(1)},
		{Name: "power cut of all", Inject: k.power(0)},
	}
}

// kit makes faults of disks.
type kit map[string]*disk.Disk

type inject = func(context.Context, arena.Arena, *rand.Rand) (*fault.Wound, error)

// names are the nodes that have disks, sorted.
func (k kit) names() (list []string) {
	for n := range k {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// all has all disks behave like b; its effect is that count has grown.
func (k kit) all(b disk.Behaviour, count func(disk.Met) int) inject {
	return func(context.Context, arena.Arena, *rand.Rand) (*fault.Wound, error) {
		sum := func() (n int) {
			for _, d := range k {
				n += count(d.Met())
			}
			return n
		}
		before := sum()
		k.be(b)
		return &fault.Wound{
			On: strings.Join(k.names(), ", "),
			Effect: func(ctx context.Context) (string, error) {
				err := until(ctx, "a sync that took longer", func() bool { return sum() > before })
				return fmt.Sprintf("%d syncs took longer", sum()-before), err
			},
			Heal: func(context.Context) error {
				k.be(disk.Behaviour{})
				return nil
			},
		}, nil
	}
}

func (k kit) be(b disk.Behaviour) {
	for _, d := range k {
		d.Be(b)
	}
}

// leader breaks the leader's disk, with what follows from it.
func (k kit) leader(b disk.Behaviour, wound func(arena.Arena, string) *fault.Wound) inject {
	return func(ctx context.Context, a arena.Arena, _ *rand.Rand) (*fault.Wound, error) {
		name, _, ok := fault.Leader(ctx, a)
		if !ok || k[name] == nil {
			return nil, errors.New("no node with a disk of its own leads")
		}
		k[name].Be(b)
		return wound(a, name), nil
	}
}

// hangs is a wound that lasts until the node has given up and another one leads;
// its effect is a call that does not come back.
func (k kit) hangs(a arena.Arena, name string) *fault.Wound {
	w, before := k.broken(a, name), k[name].Met().Hung
	w.Lasts = 14 * time.Second
	w.Effect = func(ctx context.Context) (string, error) {
		err := until(ctx, "a call that hangs", func() bool { return k[name].Met().Hung > before })
		return fmt.Sprintf("%d calls of %s hang", k[name].Met().Hung-before, name), err
	}
	return w
}

// follower breaks a follower's disk; its effect is that the node ends.
func (k kit) follower(b disk.Behaviour) inject {
	return func(ctx context.Context, a arena.Arena, r *rand.Rand) (*fault.Wound, error) {
		leader, _, ok := fault.Leader(ctx, a)
		names := slices.DeleteFunc(k.names(), func(n string) bool { return n == leader || !a.Running(n) })
		if !ok || len(names) == 0 {
			return nil, errors.New("there is no leader, or no follower with a disk of its own")
		}
		name := names[r.IntN(len(names))]
		k[name].Be(b)
		return k.broken(a, name), nil
	}
}

// silent is the effect that a node answers nobody.
func (k kit) silent(a arena.Arena, names ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := until(ctx, strings.Join(names, ", ")+" silent", func() bool {
			for _, n := range names {
				if _, err := fault.Status(ctx, a, n); err == nil {
					return false
				}
			}
			return true
		})
		return strings.Join(names, ", ") + " answers nobody", err
	}
}

// broken is a wound whose node ends by itself, its ports closed before all else,
// and is started on a sound disk.
func (k kit) broken(a arena.Arena, name string) *fault.Wound {
	return &fault.Wound{On: name, Effect: k.silent(a, name), Heal: func(context.Context) error {
		k[name].Be(disk.Behaviour{})
		if k[name].Off() {
			return nil // a power cut beside it is not over, and starts it then
		}
		_ = a.Kill(name) // it may have ended
		return a.Start(name)
	}}
}

// power cuts the power of so many nodes, drawn; 0: of all. What was not synced
// is lost in part, as is drawn too.
func (k kit) power(n int) inject {
	return func(_ context.Context, a arena.Arena, r *rand.Rand) (*fault.Wound, error) {
		names := k.names()
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if n > 0 {
			names = names[:n]
		}
		for _, name := range names {
			k[name].PowerOff()
		}
		for _, name := range names {
			_ = a.Kill(name) // it may have ended
		}
		draw := rand.New(rand.NewPCG(r.Uint64(), 0))
		return &fault.Wound{On: strings.Join(names, ", "), Effect: k.silent(a, names...), Heal: func(context.Context) error {
			var err error
			for _, name := range names {
				_ = a.Kill(name) // what is beside this may have started it
				_, _, perr := k[name].PowerOn(draw)
				err = errors.Join(err, perr, a.Start(name))
			}
			return err
		}}, nil
	}
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
