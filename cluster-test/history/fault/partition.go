package fault

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// cut is a partition: what does not reach what.
type cut struct {
	name string
	// links are cut from the first to the second: 'l' is the leader, 'a' and 'b' are followers.
	links []string
	// effect says what shows it.
	effect func(a arena.Arena, leader, first, second string, term uint64) func(context.Context) (string, error)
}

// partitions are networks that do not reach everywhere.
func partitions() (list []Fault) {
	other := func(a arena.Arena, leader, _, _ string, term uint64) func(context.Context) (string, error) {
		return another(a, leader, term)
	}
	alone := func(a arena.Arena, _, first, _ string, term uint64) func(context.Context) (string, error) {
		return unheard(a, first, term)
	}
	for _, c := range []cut{
		{"partition: the leader alone", []string{"la", "al", "lb", "bl"}, other},
		{"partition: a follower alone", []string{"la", "al", "ab", "ba"}, alone},
		{"partition: the leader is not heard", []string{"la", "lb"}, other},
		{"partition: the leader does not hear", []string{"al", "bl"}, other},
		{"partition: a follower does not hear", []string{"la", "ba"}, alone},
		{"bridge: one follower between the leader and the other", []string{"la", "al"}, alone},
	} {
		list = append(list, Fault{Name: c.name, Needs: networked, Inject: c.inject})
	}
	return append(list,
		Fault{Name: "flapping links of the leader", Needs: networked, Inject: flap},
		Fault{Name: "the leader hears late, and then is not heard", Needs: networked, Inject: choke},
	)
}

func (c cut) inject(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, term, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	hosts := map[byte]string{'l': leader, 'a': others[0], 'b': others[1]}
	for _, l := range c.links {
		a.Net().Cut(hosts[l[0]], hosts[l[1]])
	}
	return &Wound{On: leader + " and " + list(others), Effect: c.effect(a, leader, others[0], others[1], term), Heal: func(context.Context) error {
		for _, l := range c.links {
			a.Net().Heal(hosts[l[0]], hosts[l[1]])
		}
		return nil
	}}, nil
}

// flap cuts the leader off and lets it back, again and again.
func flap(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, term, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	end, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	periods := rand.New(rand.NewPCG(r.Uint64(), 0))
	go func() { // Heal waits for it
		defer close(done)
		for end.Err() == nil {
			for _, o := range others {
				a.Net().Cut(leader, o)
				a.Net().Cut(o, leader)
			}
			rest(end, time.Duration(100+periods.IntN(700))*time.Millisecond)
			for _, o := range others {
				a.Net().Heal(leader, o)
				a.Net().Heal(o, leader)
			}
			rest(end, time.Duration(50+periods.IntN(400))*time.Millisecond)
		}
	}()
	return &Wound{On: leader, Lasts: 3 * time.Second, Effect: unheard(a, others[0], term), Heal: func(context.Context) error {
		stop()
		<-done
		return nil
	}}, nil
}

// choke slows what the leader hears, and then has nobody hear it: what it hears
// after that is older than it seems, so that others may elect another one before
// it lets go.
func choke(ctx context.Context, a arena.Arena, r *rand.Rand) (*Wound, error) {
	leader, term, others, err := victims(ctx, a, r)
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		a.Net().Slow(o, leader, 220*time.Millisecond)
	}
	rest(ctx, time.Second) // until it hears nothing that is newer
	for _, o := range others {
		a.Net().Cut(leader, o)
	}
	return &Wound{On: leader, Effect: another(a, leader, term), Heal: func(context.Context) error {
		for _, o := range others {
			a.Net().Heal(leader, o)
			a.Net().Heal(o, leader)
		}
		return nil
	}}, nil
}

// rest waits for d, or until ctx is done: what is done again and again has a pace.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
