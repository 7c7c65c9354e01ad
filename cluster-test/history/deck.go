package history

import (
	"math/rand/v2"
	"slices"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
)

// deck draws kinds of fault so that all come equally often: each comes once
// before one comes again, over all rounds.
type deck struct {
	r     *rand.Rand
	kinds []int
	left  []int
}

// fill takes up the kinds that the arena has, by their places in all.
func (d *deck) fill(a arena.Arena, all []fault.Fault) []int {
	if d.kinds == nil {
		for i, f := range all {
			if f.Needs == nil || f.Needs(a) {
				d.kinds = append(d.kinds, i)
			}
		}
	}
	return d.kinds
}

func (d *deck) draw() int {
	if len(d.left) == 0 {
		d.left = slices.Clone(d.kinds)
		d.r.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	n := d.left[0]
	d.left = d.left[1:]
	return n
}

// back puts a kind that was drawn back under the others.
func (d *deck) back(n int) { d.left = append(d.left, n) }
