package node

import (
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// brokerQuota bounds the brokers that each group has offsets on: a group is replaced
// whole in one entry, which takes the longer the more brokers it has. While the names
// seen in this term are no more than one group may have, only names are looked at;
// after that, each group and broker that a request names, and how many brokers the
// group has only if that one is new to it.
type brokerQuota struct {
	// known are the brokers of all groups when this term began, and those named
	// since, by whatever request; nil before the first look. Past the bound it grows no
	// more.
	known map[string]struct{}
	// admitted counts the requests since the bound was passed. adding are those of them
	// that add brokers, in their order, as long as the newest root may lack these, and
	// under is how many they add to each group.
	admitted int
	adding   []adding
	under    map[string]int
}

// adding is a request that adds brokers to groups.
type adding struct {
	number int
	to     map[string]int
}

// room returns how many brokers a request adds to groups, as far as more than names is
// looked at, or an error that wraps offset.ErrLimit, or offset.ErrBusy as admit has it.
func (b *brokerQuota) room(r *entry.Request, state *machine, late func() int) (to map[string]int, err error) {
	if b.known == nil {
		b.known, b.under = map[string]struct{}{}, map[string]int{}
		for _, name := range state.Root().Brokers(offset.MaxBrokers + 1) {
			b.know(name)
		}
	}
	if b.knows(r); !b.past() {
		return nil, nil
	}
	unapplied := late()
	b.landed(unapplied)
	return b.newBrokers(r, state.Root(), unapplied <= b.admitted)
}

// past reports whether more names are known than a group may have brokers.
func (b *brokerQuota) past() bool { return len(b.known) > offset.MaxBrokers }

func (b *brokerQuota) know(name string) {
	if _, ok := b.known[name]; !ok && !b.past() {
		b.known[strings.Clone(name)] = struct{}{}
	}
}

// knows adds the brokers that a request names, up to the bound. What a clone brings
// has names that are known.
func (b *brokerQuota) knows(r *entry.Request) {
	first, last := true, ""
	placesOf(r, func(_, broker string) bool {
		if first || broker != last {
			b.know(broker)
		}
		first, last = false, broker
		return !b.past()
	})
}

// remember adds a request that is admitted.
func (b *brokerQuota) remember(to map[string]int) {
	if !b.past() {
		return
	}
	b.admitted++
	if len(to) > 0 {
		b.adding = append(b.adding, adding{b.admitted, to})
	}
	for group, n := range to {
		b.under[group] += n
	}
}

// landed forgets what the newest root has, which may lack the unapplied last ones.
func (b *brokerQuota) landed(unapplied int) {
	n := 0
	for ; n < len(b.adding) && b.adding[n].number <= b.admitted-unapplied; n++ {
		for group, k := range b.adding[n].to {
			if b.under[group] -= k; b.under[group] == 0 {
				delete(b.under, group)
			}
		}
	}
	b.adding = slices.Delete(b.adding, 0, n)
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

// newBrokers counts the brokers that a request adds to groups, if each has room. sure
// says that no request is in flight of which only names were looked at.
func (b *brokerQuota) newBrokers(r *entry.Request, root *table.Root, sure bool) (to map[string]int, err error) {
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
		g.more[broker] = struct{}{}
		err = g.within(group, b.under[group], sure)
		return err == nil
	}
	placesOf(r, add)
	if clones(r) {
		clonePlaces(r.Act.Clone, root, add)
	}
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	to = make(map[string]int, len(groups))
	for group, g := range groups {
		to[strings.Clone(group)] = len(g.more)
	}
	return to, nil
}

// clones reports whether the request begins a clone: a further entry continues
// what was admitted.
func clones(r *entry.Request) bool { return r.Act != nil && r.Act.Clone != nil && r.Step == 0 }

// clonePlaces yields the group that a clone writes to, and the brokers it brings.
func clonePlaces(c *offset.Clone, root *table.Root, yield func(group, broker string) bool) {
	for _, broker := range root.BrokersOf(c.From, c.Topic) {
		if (!c.HasBroker || broker == c.Broker) && !yield(c.To, broker) {
			return
		}
	}
}

// within returns nil if the group has room for what is added on top of what is in flight.
func (g *onBrokers) within(group string, flying int, sure bool) error {
	n := g.has + len(g.more)
	switch {
	case n > offset.MaxBrokers:
		return offset.Errorf(offset.ErrLimit, "group %q has offsets on %d brokers, and may have them on %d; remove those of brokers that are gone", group, g.has, offset.MaxBrokers)
	case !sure, n+flying > offset.MaxBrokers:
		return errBrokersNear
	}
	return nil
}

// errBrokersNear refuses a further broker of a group while what is in flight may take
// the room left.
var errBrokersNear = offset.Errorf(offset.ErrBusy, "the group is close to the limit on its brokers, which what is under way may reach; try again")
