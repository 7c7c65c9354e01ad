package client

import (
	"context"
	"slices"
)

// maxHalved is how many parts of one run's requests are sent again: enough to
// find two queues to blame among 10,000, and little enough where all are.
const maxHalved = 32

// halving sends requests that the cluster may refuse whole for what some of them
// asks, such as a queue that is denied. One that is refused is sent again in parts,
// so that such a queue holds up itself alone: as they were refused before, and each
// of these in halves. The largest come first, and of equal ones those that wait for
// longest: so all of it gets its turn, and the next run continues where this one ends.
type halving[T any] struct {
	// send makes one request. The error is that of one that was refused for what
	// some of it asks; nil of any other.
	send func(list []T) error
	// refusal numbers the refusal that something was part of last.
	refusal func(T) uint64
	// cut says where to halve a list; 0: it is to be blamed as a whole.
	cut func([]T) int
	// refused notes that these were refused together, under a new number.
	refused func([]T)
	// blame notes that these are not sent again in this run, and why.
	blame func([]T, error)
	// left is how many parts may still be sent again.
	left int
}

// part is what was refused together, and why.
type part[T any] struct {
	list []T
	err  error
}

// all sends a request, and what it takes to find out what is to blame if it is refused.
func (h *halving[T]) all(ctx context.Context, list []T) {
	for parts := h.try(list); len(parts) > 0; parts = parts[1:] {
		p := parts[0]
		if h.left == 0 || ctx.Err() != nil {
			h.blame(p.list, p.err)
			continue
		}
		h.left--
		half := h.cut(p.list)
		if half > 0 {
			parts = append(parts, h.try(p.list[:half])...)
		}
		parts = append(parts, h.try(p.list[half:])...)
	}
}

// try sends a request, and gives the parts of one that was refused, if it has any.
func (h *halving[T]) try(list []T) (parts []part[T]) {
	err := h.send(list)
	if err == nil {
		return nil
	}
	for rest := list; len(rest) > 0; {
		n := h.together(rest)
		parts = append(parts, part[T]{rest[:n], err})
		rest = rest[n:]
	}
	slices.SortStableFunc(parts, func(a, b part[T]) int { return len(b.list) - len(a.list) })
	if len(parts) > 1 {
		return parts
	}
	h.refused(list)
	if h.cut(list) == 0 {
		h.blame(list, err)
		return nil
	}
	return parts
}

// together reports how many, from the first on, were last refused as one part.
func (h *halving[T]) together(list []T) int {
	n := slices.IndexFunc(list, func(x T) bool { return h.refusal(x) != h.refusal(list[0]) })
	if n < 0 {
		return len(list)
	}
	return n
}
