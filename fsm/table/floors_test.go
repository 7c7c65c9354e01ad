package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestAnExpiryOfManyFencesNobodyElse: who has read that a queue has no offset yet, of a
// group that no act has touched, can commit after thousands of dead groups expired.
func TestAnExpiryOfManyFencesNobodyElse(t *testing.T) {
	s := newScript(t)
	quiet := qkey("quiet", "t", 0)
	read := s.get(quiet).Epoch
	e := &offset.Expire{}
	for i := range 5000 {
		k := qkey(fmt.Sprint("dead", i), "t", 0)
		s.commit(k, 1, 0)
		e.Groups = append(e.Groups, offset.Idle{Group: k.Group, Seen: s.at})
	}
	act := s.newAct(offset.Act{Expire: e})
	var result offset.ActResult
	for step := uint32(0); !result.Done; step = result.Next {
		s.begin()
		result = s.Act(act, step, nil)
		s.Publish()
	}
	s.want("expired", result.Changed, uint64(5000))
	s.want("the epoch of another group", s.get(quiet).Epoch, read)
	s.wantCode("its first commit", s.commit(quiet, 7, read).Code, offset.CodeOK)
}

// TestFloorsOfRootsStay: lists share their memory, and what a root holds never
// changes; when roots were published makes no difference to what follows.
func TestFloorsOfRootsStay(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var roots []plainFloors
	f, plain := newFloors(0, 0, 5), plainFloors{}
	gen := uint64(0)
	for index := uint64(1); index <= 400; index++ {
		gen++
		for range 1 + random.IntN(6) {
			f = f.own(gen)
			if random.IntN(3) == 0 {
				gen++
			}
			sc := scope{random.IntN(4) == 0, fmt.Sprint(random.IntN(8))}
			f.move(sc, index)
			plain.move(sc, index, f.limit)
		}
		if got := f.live(); f.all != plain.all || !slices.Equal(got, plain.list) || len(f.list) > 2*f.limit {
			t.Fatalf("seed %d, index %d: %d %v of %d, want %d %v", seed, index, f.all, got, len(f.list), plain.all, plain.list)
		}
		roots = append(roots, plainFloors{f, plain.all, slices.Clone(plain.list)})
	}
	for i, r := range roots {
		if got := r.f.live(); r.f.all != r.all || !slices.Equal(got, r.list) {
			t.Fatalf("seed %d: the floors of index %d were %d %v, and are %d %v", seed, i+1, r.all, r.list, r.f.all, got)
		}
	}
}

// plainFloors is the rule of floors, and what is held to it.
type plainFloors struct {
	f    *floors
	all  uint64
	list []Floor
}

func (p *plainFloors) move(sc scope, index uint64, limit int) {
	p.list = slices.DeleteFunc(p.list, func(x Floor) bool { return x.Topic == sc.topic && x.Name == sc.name })
	if len(p.list) == limit {
		p.all = max(p.all, p.list[0].Index)
		p.list = p.list[1:]
	}
	order := uint32(0)
	if n := len(p.list); n > 0 && p.list[n-1].Index == index {
		order = p.list[n-1].Order + 1
	}
	p.list = append(p.list, Floor{sc.topic, sc.name, index, order})
}
