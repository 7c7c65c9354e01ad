package table

import (
	"maps"
	"slices"
	"strings"
)

// claims hold the newest claim of each scope. Nothing forgets one. Published
// ones never change.
type claims struct {
	groups, brokers map[string]Claim
	sum             sum
	gen             uint64
}

func newClaims() *claims { return &claims{groups: map[string]Claim{}, brokers: map[string]Claim{}} }

// of returns the newest claim on a key, 0 if there is none.
func (c *claims) of(group, broker string) uint64 {
	if len(c.groups)+len(c.brokers) == 0 {
		return 0
	}
	return max(c.groups[group].Index, c.brokers[broker].Index)
}

func (c *claims) own(gen uint64) *claims {
	if c.gen == gen {
		return c
	}
	return &claims{maps.Clone(c.groups), maps.Clone(c.brokers), c.sum, gen}
}

func (c *claims) by(byBroker bool) map[string]Claim {
	if byBroker {
		return c.brokers
	}
	return c.groups
}

// put keeps x as the newest of its scope.
func (c *claims) put(x Claim) {
	m := c.by(x.ByBroker)
	if old, ok := m[x.Name]; ok {
		c.sum = sub(c.sum, old.hash())
	}
	m[x.Name] = x
	c.sum = add(c.sum, x.hash())
}

// overlap returns the newest claim of the scopes that share a key with one: a
// group may have keys on any broker.
func (c *claims) overlap(byBroker bool, name string) uint64 {
	newest := c.by(byBroker)[name].Index
	for _, x := range c.by(!byBroker) {
		newest = max(newest, x.Index)
	}
	return newest
}

// list gives them in the order of a snapshot.
func (c *claims) list() []Claim {
	out := make([]Claim, 0, len(c.groups)+len(c.brokers))
	for _, m := range []map[string]Claim{c.groups, c.brokers} {
		from := len(out)
		for _, x := range m {
			out = append(out, x)
		}
		slices.SortFunc(out[from:], func(a, b Claim) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

// newerGroups returns the groups with a claim above index, sorted.
func (c *claims) newerGroups(index uint64) []string {
	var out []string
	for name, x := range c.groups {
		if x.Index > index {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
