package table

import (
	"slices"
	"strings"
)

// ref is a group as the writer sees it: its parts in the order of their brokers.
// Most groups have one; it and its broker's name stand in the ref itself, so
// that a commit comes to its part by few steps.
type ref struct {
	broker string
	// first is nil only while the group is being made or taken away.
	first *part
	rest  []*part
}

func (r *ref) find(broker string) (int, bool) {
	return slices.BinarySearchFunc(r.rest, broker, func(p *part, b string) int { return strings.Compare(p.id.broker, b) })
}

// part returns the part of a broker, nil if the group has no key there.
func (r *ref) part(broker string) *part {
	if r.broker == broker {
		return r.first
	}
	if i, ok := r.find(broker); ok {
		return r.rest[i]
	}
	return nil
}

// all yields the parts; the ref must not change meanwhile.
func (r *ref) all(yield func(*part) bool) {
	if r.first == nil || !yield(r.first) {
		return
	}
	for _, p := range r.rest {
		if !yield(p) {
			return
		}
	}
}

// last returns the part that costs least to remove, nil if there is none.
func (r *ref) last() *part {
	if n := len(r.rest); n > 0 {
		return r.rest[n-1]
	}
	return r.first
}

// put adds a part, or puts it in the place of the one of its broker.
func (r *ref) put(p *part) {
	if r.first == nil || p.id.broker == r.broker {
		r.first, r.broker = p, p.id.broker
		return
	}
	if p.id.broker < r.broker {
		r.first, p = p, r.first
		r.broker = r.first.id.broker
	}
	i, ok := r.find(p.id.broker)
	if ok {
		r.rest[i] = p
	} else {
		r.rest = slices.Insert(r.rest, i, p)
	}
}

// remove takes a part away; first is nil if it was the last.
func (r *ref) remove(p *part) {
	if i, ok := r.find(p.id.broker); ok {
		r.rest = slices.Delete(r.rest, i, i+1)
		return
	}
	r.first, r.broker = nil, ""
	if len(r.rest) > 0 {
		r.first, r.broker = r.rest[0], r.rest[0].id.broker
		r.rest = slices.Delete(r.rest, 0, 1)
	}
}
