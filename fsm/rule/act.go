package rule

import (
	"cmp"
	"math"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// scan lists the keys that an act goes through, in its order, beyond its cursor.
func (p *State) scan(rec *record, in func(offset.Key) bool, order func(a, b offset.Key) int) []offset.Key {
	var out []offset.Key
	for k := range p.Keys {
		if in(k) && (rec.cursor == nil || order(k, *rec.cursor) > 0) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, order)
	return out
}

func byBrokerFirst(a, b offset.Key) int {
	return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.QueueID, b.QueueID))
}

func (p *State) remove(a *offset.Act, rec *record) bool {
	s := a.Remove.Scope
	order := byBrokerFirst
	if s.Group == "" {
		order = offset.Key.Compare
	}
	in := func(k offset.Key) bool {
		return (s.Group == "" || k.Group == s.Group) && (s.Topic == "" || k.Topic == s.Topic) &&
			(s.Group == "" || !s.HasBroker || k.Broker == s.Broker) && (!s.HasQueue || k.QueueID == s.QueueID)
	}
	left, did, done := p.Bounds.Step, false, true
	floor := p.Floor(s.Group, s.Topic)
	passed := "" // a pair of another broker counts one, once
	for _, k := range p.scan(rec, in, order) {
		if s.Group == "" && s.HasBroker && k.Broker != s.Broker {
			if pair := k.Group + "\x00" + k.Broker; pair != passed {
				if left <= 0 {
					done = false
					break
				}
				passed = pair
				left--
			}
			rec.cursor = &offset.Key{Group: k.Group, MessageQueue: offset.MessageQueue{Topic: k.Topic, Broker: k.Broker, QueueID: math.MaxInt32}}
			continue
		}
		if left <= 0 {
			done = false
			break
		}
		left--
		rec.cursor, rec.seen = &k, true
		if !p.spare(a, rec, k, true) {
			delete(p.Keys, k)
			p.did(rec)
			did = true
		}
	}
	switch {
	case !did && done && !rec.seen && floor > a.Base:
		rec.res.Code = offset.CodeSuperseded
	case did || done && !rec.seen:
		p.LastAct = p.Index
		if s.Group == "" {
			p.moveFloor(true, s.Topic)
		} else {
			p.moveFloor(false, s.Group)
		}
	}
	if done {
		p.refuse(rec)
	}
	return done
}

func (p *State) clone(a *offset.Act, rec *record) bool {
	c := a.Clone
	in := func(k offset.Key) bool {
		return k.Group == c.From && (c.Topic == "" || k.Topic == c.Topic) && (!c.HasBroker || k.Broker == c.Broker)
	}
	left := p.Bounds.Step
	for _, k := range p.scan(rec, in, byBrokerFirst) {
		if left == 0 {
			return false
		}
		left--
		rec.cursor, rec.seen = &k, true
		to := k
		to.Group = c.To
		if !p.spare(a, rec, to, true) {
			p.write(to, p.Keys[k].Offset, false)
			p.did(rec)
		}
	}
	p.refuse(rec)
	if !rec.seen {
		rec.res.Code = offset.CodeNotFound
	}
	return true
}

func (p *State) expire(a *offset.Act, rec *record) bool {
	left := p.Bounds.Step
	for rec.item < len(a.Expire.Groups) {
		if left <= 0 {
			return false
		}
		left -= expireGroup
		g := a.Expire.Groups[rec.item]
		list := p.scan(&record{}, func(k offset.Key) bool { return k.Group == g.Group }, byBrokerFirst)
		if slices.ContainsFunc(list, func(k offset.Key) bool { return p.Keys[k].Index > g.Seen }) {
			p.keep(rec, offset.Key{Group: g.Group})
			list = nil
		}
		did := false
		for _, k := range list {
			if rec.cursor != nil && byBrokerFirst(k, *rec.cursor) <= 0 {
				continue
			}
			if left <= 0 {
				if did {
					p.moveFloor(false, g.Group)
				}
				return false
			}
			left--
			rec.cursor = &k
			if !p.spare(a, rec, k, false) {
				delete(p.Keys, k)
				p.did(rec)
				did = true
			}
		}
		if did {
			p.moveFloor(false, g.Group)
		}
		rec.item, rec.cursor = rec.item+1, nil
	}
	return true
}

// lost looks at the keys that are there, and at what the act names.
func (p *State) lost(a *offset.Act) bool {
	if a.Claim == 0 {
		return false
	}
	newer := func(byBroker bool, name string) bool {
		return slices.ContainsFunc(p.Claims, func(c offset.Claim) bool { return c.ByBroker == byBroker && c.Name == name && c.Index > a.Claim })
	}
	present := func(in func(offset.Key) bool) bool {
		for k := range p.Keys {
			if in(k) && p.claim(k.Group, k.Broker) > a.Claim {
				return true
			}
		}
		return false
	}
	group := func(g, b string, hasBroker bool) bool {
		return newer(false, g) || hasBroker && newer(true, b) || !hasBroker && present(func(k offset.Key) bool { return k.Group == g })
	}
	switch {
	case a.Reset != nil:
		return slices.ContainsFunc(a.Reset.Targets, func(t offset.Target) bool { return p.claim(t.Key.Group, t.Key.Broker) > a.Claim })
	case a.Remove != nil && a.Remove.Scope.Group == "":
		s := a.Remove.Scope
		return s.HasBroker && newer(true, s.Broker) ||
			present(func(k offset.Key) bool { return k.Topic == s.Topic && (!s.HasBroker || k.Broker == s.Broker) })
	case a.Remove != nil:
		s := a.Remove.Scope
		return group(s.Group, s.Broker, s.HasBroker)
	case a.Clone != nil:
		return group(a.Clone.To, a.Clone.Broker, a.Clone.HasBroker)
	case a.Expire != nil:
		return slices.ContainsFunc(a.Expire.Groups, func(g offset.Idle) bool { return group(g.Group, "", false) })
	}
	return false
}
