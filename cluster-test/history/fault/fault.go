// Package fault breaks an arena, one kind of fault after another or several at
// once, and says of each whether its effect was seen.
package fault

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// Fault is one kind of fault.
type Fault struct {
	// Name is what it is counted under.
	Name string
	// Needs tells whether it can be done there; nil: everywhere.
	Needs func(a arena.Arena) bool
	// Alone: it is not done beside another, since it can't come to its end then.
	Alone bool
	// Inject draws a victim from r and does it. An error means that nothing is
	// left to heal, such as where there was no leader to break.
	Inject func(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error)
}

// Wound is a fault that was done.
type Wound struct {
	// On says what it was done to, for people.
	On string
	// Lasts is how long it stays before it is healed; 0: the runner draws it.
	Lasts time.Duration
	// Quiet is done next, while clients write nothing: they do not until the fault
	// is healed. nil: clients work on.
	Quiet func(ctx context.Context) error
	// Effect waits within ctx until the effect of the fault shows and says what
	// was seen; the error says that it was not. It is called once, before Heal.
	Effect func(ctx context.Context) (seen string, err error)
	// Promise is what the product promises where it promises the effect: that it
	// does not show is a finding then. Empty: nothing. The fault is one done alone.
	Promise string
	// Heal ends it, and returns once it is ended. nil: it ends by itself.
	Heal func(ctx context.Context) error
}

// All are the faults that this package has.
func All() []Fault {
	list := append(deaths(), pauses()...)
	list = append(list, leaderships()...)
	list = append(list, partitions()...)
	list = append(list, links()...)
	list = append(list, divergences()...)
	return append(list, members()...)
}

// Named are those of All whose names match.
func Named(pattern *regexp.Regexp) []Fault {
	return slices.DeleteFunc(All(), func(f Fault) bool { return !pattern.MatchString(f.Name) })
}

// networked: the network between nodes can be broken.
func networked(a arena.Arena) bool { return a.Net() != nil }
