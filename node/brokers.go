package node

import (
	"strings"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// brokerQuota bounds the brokers that each group has offsets on: a group is replaced
// whole in one entry, which takes as long as it has brokers. As long as the names seen
// in this term are no more than one group may have, only names are looked at; then each
// group and broker that a request names, and how many the group has only where that
// broker is new to it.
type brokerQuota struct {
	// known are the brokers of all groups when this term began, and those named
	// since, by whatever request; nil before the first look. Past the bound it grows no
	// more.
	known map[string]struct{}
	// newest is how many brokers the requests admitted last may add to any group.
	newest lately
}

// room returns how many brokers a request may add to groups, or an error that
// wraps offset.ErrLimit, or offset.ErrBusy as admit has it.
func (b *brokerQuota) room(r *entry.Request, state *machine, late func() int) (adds uint64, err error) {
	if b.known == nil {
		b.known = map[string]struct{}{}
		for _, name := range state.Root().Brokers(offset.MaxBrokers + 1) {
			b.know(name)
		}
	}
	if runs := b.knows(r); len(b.known) <= offset.MaxBrokers {
		return runs, nil
	}
	flying := b.newest.flying(late())
	return newBrokers(r, state.Root(), flying)
}

func (b *brokerQuota) know(name string) {
	if _, ok := b.known[name]; !ok && len(b.known) <= offset.MaxBrokers {
		b.known[strings.Clone(name)] = struct{}{}
	}
}

// knows adds the brokers that a request names, and counts how often the broker, or
// the group, is another one than before. What a clone brings has names that are
// known, and no more than those.
func (b *brokerQuota) knows(r *entry.Request) (runs uint64) {
	if clones(r) {
		return uint64(len(b.known))
	}
	lastGroup, last := "", ""
	placesOf(r, func(group, broker string) bool {
		if runs == 0 || broker != last {
			b.know(broker)
		}
		if runs == 0 || broker != last || group != lastGroup {
			runs++
		}
		lastGroup, last = group, broker
		return true
	})
	return runs
}

// placesOf yields the groups and brokers of the keys that a request names.
func placesOf(r *entry.Request, yield func(group, broker string) bool) {
	switch {
	case r.Commits != nil:
		for i := range r.Commits.Topics {
			if t := &r.Commits.Topics[i]; !yield(t.Group, t.Broker) {
				return
			}
		}
	case r.Set != nil:
		yield(r.Set.Key.Group, r.Set.Key.Broker)
	case r.Act != nil:
		list := targetsOf(r.Act)
		for i := range list {
			if k := &list[i].Key; !yield(k.Group, k.Broker) {
				return
			}
		}
	}
}

// onBrokers are the brokers of one group: those it has, and those that a request adds.
type onBrokers struct {
	has  int
	more map[string]struct{}
}

// newBrokers counts the brokers that a request adds to groups, if each has room.
func newBrokers(r *entry.Request, root *table.Root, flying uint64) (adds uint64, err error) {
	on, count := root.On, root.OnCount
	if stages(r, root) {
		on, count = root.StagedOn, root.StagedOnCount
	}
	groups := map[string]*onBrokers{}
	add := func(group, broker string) bool {
		if on(group, broker) {
			return true
		}
		g := groups[group]
		if g == nil {
			g = &onBrokers{count(group), map[string]struct{}{}}
			groups[group] = g
		}
		if _, ok := g.more[broker]; ok {
			return true
		}
		g.more[broker] = struct{}{}
		adds++
		err = g.within(group, flying)
		return err == nil
	}
	placesOf(r, add)
	if clones(r) {
		clonePlaces(r.Act.Clone, root, add)
	}
	return adds, err
}

// clones tells whether the request begins a clone: a further entry goes on with what
// was admitted.
func clones(r *entry.Request) bool { return r.Act != nil && r.Act.Clone != nil && r.Step == 0 }

// clonePlaces yields the group that a clone writes to, and the brokers it brings.
func clonePlaces(c *offset.Clone, root *table.Root, yield func(group, broker string) bool) {
	for _, broker := range root.BrokersOf(c.From, c.Topic) {
		if (!c.HasBroker || broker == c.Broker) && !yield(c.To, broker) {
			return
		}
	}
}

// within returns nil if the group has room for what is added beside what is in flight.
func (g *onBrokers) within(group string, flying uint64) error {
	n := g.has + len(g.more)
	switch {
	case n > offset.MaxBrokers:
		return offset.Errorf(offset.ErrLimit, "group %q has offsets on %d brokers, and may have them on %d; remove those of brokers that are gone", group, g.has, offset.MaxBrokers)
	case uint64(n)+flying > offset.MaxBrokers:
		return errBrokersNear
	}
	return nil
}

// errBrokersNear is for who adds a broker to a group while what is in flight may
// take the room left.
var errBrokersNear = offset.Errorf(offset.ErrBusy, "the group is close to the limit on its brokers, which what is under way may reach; try again")
