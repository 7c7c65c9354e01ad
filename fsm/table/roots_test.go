package table

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestOldRootsNeverChange reads roots, new and old, from other goroutines while
// the writer goes on: what a root held when it was published, it holds for good.
func TestOldRootsNeverChange(t *testing.T) {
	seed := seedOf(t)
	type held struct {
		root   *Root
		rows   []offset.KeyedState
		digest offset.Digest
	}
	p := newPlain(testCluster, 5)
	g := newGen(seed, p)
	g.queues = 150 // several nodes a topic
	tab := newTestTable(5)
	ch := make(chan held, 8)
	var readers sync.WaitGroup
	for i := range uint64(2) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, i))
			var old []held
			for h := range ch {
				old = append(old, h)
				for range 3 {
					check(t, old[r.IntN(len(old))].root, old[r.IntN(len(old))].rows, false)
				}
				x := old[r.IntN(len(old))]
				check(t, x.root, x.rows, true)
				if x.root.Digest() != x.digest {
					t.Error("the digest of a root has changed")
				}
				_ = tab.Root().List(&offset.List{What: offset.ListKeys, NewerThan: x.root.Index()})
			}
		})
	}
	for range 250 {
		e := g.entry(func(op, answer) {})
		tab.Begin(e.index, e.ms)
		for _, o := range e.ops {
			applyOp(tab, o, nil)
		}
		tab.Publish()
		r := tab.Root()
		ch <- held{r, p.rows(func(offset.KeyedState) bool { return true }), tab.Digest()}
	}
	close(ch)
	readers.Wait()
}

// check reads a root; only if exact must it hold these rows.
func check(t *testing.T, r *Root, rows []offset.KeyedState, exact bool) {
	var got []offset.KeyedState
	r.Walk(&offset.List{}, func(ks offset.KeyedState) bool { got = append(got, ks); return true })
	if exact && !slices.Equal(got, rows) {
		t.Errorf("a root of index %d holds %d rows, %d when it was published, or others", r.Index(), len(got), len(rows))
	}
	n := 0
	err := r.Topics(func(s *TopicState) error {
		if !s.Staged {
			n += len(s.Queues)
		}
		return nil
	})
	if err != nil || n != len(got) || uint64(n) != r.Queues() {
		t.Errorf("a root says %d queues, dumps %d and lists %d", r.Queues(), n, len(got))
	}
}

// TestPublishCopiesWhatIsTouched: after a root is taken, a commit copies its own
// node and the pages above it, and shares all else with the root.
func TestPublishCopiesWhatIsTouched(t *testing.T) {
	s := newScript(t)
	for g := range 300 {
		for q := range int32(4) {
			s.commit(qkey(string(rune('a'+g%26))+string(rune('a'+g/26)), "t", q), 1, 0)
		}
	}
	s.Publish()
	old := s.Root()
	s.commit(qkey("ca", "t", 2), 5, 0)
	s.Publish()
	now := s.Root()
	shared, copied := 0, 0
	for c := now.live.parts.all(sieve{}); ; c.next() {
		p, ok := c.item()
		if !ok {
			break
		}
		if old.live.part(p.id.group, p.id.broker) == p {
			shared++
		} else {
			copied++
		}
	}
	if copied != 1 || shared != 299 {
		t.Fatalf("%d parts copied, %d shared", copied, shared)
	}
	pages := 0
	for i, k := range now.live.parts.root.inner.kids {
		if old.live.parts.root.inner.kids[i] != k {
			pages++
		}
	}
	if pages != 1 {
		t.Fatalf("%d pages of the first level copied", pages)
	}
	s.want("the old root", old.Get(qkey("ca", "t", 2)).Position.Offset, int64(1))
}
