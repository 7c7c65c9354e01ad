package table

import (
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// take claims a scope: every key of it has a newer epoch from now on, and none
// is touched.
func (w *work) take(k *offset.Take) bool {
	t, r := w.t, &w.rec.Result
	known := t.claims.by(k.ByBroker)[k.Name].Index > 0
	switch {
	case t.busy, t.claims.overlap(k.ByBroker, k.Name) > w.a.Base:
		r.Code = offset.CodeSuperseded
	case !known && len(t.claims.groups)+len(t.claims.brokers) >= offset.MaxClaims:
		r.Code = offset.CodeLimit
	default:
		t.claims = t.claims.own(t.gen)
		t.claims.put(Claim{k.ByBroker, strings.Clone(k.Name), strings.Clone(k.Holder), t.index})
		w.did = true
	}
	return true
}

// lost reports whether an act came through a holder that has lost a key of its
// scope: somebody claimed it after the holder did. Each claim is looked at, never
// the keys.
func (t *Table) lost(a *offset.Act) bool {
	if a.Claim == 0 {
		return false
	}
	switch {
	case a.Reset != nil:
		return t.lostTarget(a.Claim, a.Reset.Targets)
	case a.Remove != nil && a.Remove.Scope.Group == "":
		return t.lostTopic(a.Claim, &a.Remove.Scope)
	case a.Remove != nil:
		s := &a.Remove.Scope
		return t.lostGroup(a.Claim, s.Group, s.Broker, s.HasBroker)
	case a.Clone != nil:
		return t.lostGroup(a.Claim, a.Clone.To, a.Clone.Broker, a.Clone.HasBroker)
	case a.Expire != nil:
		for i := range a.Expire.Groups {
			if t.lostGroup(a.Claim, a.Expire.Groups[i].Group, "", false) {
				return true
			}
		}
	}
	return false
}

func (t *Table) lostTarget(claim uint64, list []offset.Target) bool {
	for i := range list {
		if t.claims.of(list[i].Key.Group, list[i].Key.Broker) > claim {
			return true
		}
	}
	return false
}

// lostGroup: a claim on the group, on the broker named, or, if none is, on a
// broker that the group has keys on.
func (t *Table) lostGroup(claim uint64, group, broker string, hasBroker bool) bool {
	if t.claims.groups[group].Index > claim || hasBroker && t.claims.brokers[broker].Index > claim {
		return true
	}
	if g := t.live.live[group]; g != nil && !hasBroker {
		for p := range g.all {
			if t.claims.brokers[p.id.broker].Index > claim {
				return true
			}
		}
	}
	return false
}

// lostTopic: a claim on the broker named, on a broker that has keys of the
// topic, or on a group that has.
func (t *Table) lostTopic(claim uint64, s *offset.Scope) bool {
	if s.HasBroker && t.claims.brokers[s.Broker].Index > claim {
		return true
	}
	for name, c := range t.claims.groups {
		if g := t.live.live[name]; c.Index > claim && g != nil {
			for p := range g.all {
				if (!s.HasBroker || p.id.broker == s.Broker) && p.has(s.Topic) {
					return true
				}
			}
		}
	}
	return !s.HasBroker && t.lostBrokers(claim, s.Topic)
}

// lostBrokers looks at the groups of a topic as far as one entry may; beyond that a
// newer claim on any broker counts.
func (t *Table) lostBrokers(claim uint64, topic string) bool {
	newest := uint64(0)
	for _, c := range t.claims.brokers {
		newest = max(newest, c.Index)
	}
	if newest <= claim {
		return false
	}
	c := t.live.topics.seek(byTopic, place{&ident{topic: topic}, 0}, sieve{})
	for left := stepQueues; ; c.next() {
		id, ok := c.item()
		if !ok || id.topic != topic {
			return false
		}
		if !t.live.holds(id) {
			continue
		}
		if left--; left < 0 {
			return true
		}
		if t.claims.brokers[id.broker].Index > claim {
			return true
		}
	}
}
