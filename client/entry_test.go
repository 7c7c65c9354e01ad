package client

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func stored(off int64, epoch uint64) offset.KeyState {
	return offset.KeyState{Exists: true, Position: offset.Position{Offset: off, Index: epoch, Epoch: epoch}, Epoch: epoch}
}

func TestWhatAnEntryHasToSay(t *testing.T) {
	for _, x := range []struct {
		name  string
		do    func(*entry)
		want  step
		value int64
	}{
		{"nothing in memory", func(e *entry) {}, nothing, 0},
		{"as it was read", func(e *entry) { e.take(stored(10, 5), testCluster) }, nothing, 0},
		{"raised", func(e *entry) { e.take(stored(10, 5), testCluster); e.update(11, true) }, advance, 11},
		{"read as absent, then 0", func(e *entry) { e.take(offset.KeyState{}, testCluster); e.update(0, true) }, advance, 0},
		{"never read", func(e *entry) { e.update(11, true) }, nothing, 0},
		{"lowered", func(e *entry) { e.take(stored(10, 5), testCluster); e.update(9, false) }, move, 9},
		{"lowered, but not below the store", func(e *entry) { e.take(stored(10, 5), testCluster); e.update(50, true); e.update(20, false) }, advance, 20},
		{"acknowledged", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(11, true)
			e.advanced(11, stored(11, 5))
		}, nothing, 0},
		{"acknowledged below another's", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(11, false)
			e.advanced(11, stored(500, 5))
			e.update(12, false)
		}, advance, 12},
		{"in doubt", func(e *entry) { e.take(stored(10, 5), testCluster); e.update(11, true); e.doubt(11) }, advance, 11},
		{"in doubt, raised", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(11, true)
			e.doubt(11)
			e.update(15, true)
		}, advance, 15},
		{"in doubt, lowered below the doubt", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(20, true)
			e.doubt(20)
			e.update(15, false)
		}, advance, 20},
		{"another offset in doubt, above the value", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(11, true)
			e.doubt(20)
		}, advance, 20},
		{"that doubt cleared", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.doubt(20)
			e.advanced(20, stored(20, 5))
		}, nothing, 0},
		{"another offset acknowledged after the value", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(150, true)
			e.advanced(150, stored(150, 5))
			e.advanced(100, stored(150, 5))
		}, nothing, 0},
		{"another offset acknowledged before the value", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(150, true)
			e.advanced(100, stored(100, 5))
		}, advance, 150},
		{"another offset in doubt, without a value", func(e *entry) { e.take(offset.KeyState{}, testCluster); e.doubt(20) }, advance, 20},
		{"that doubt cleared, without a value", func(e *entry) {
			e.take(offset.KeyState{}, testCluster)
			e.doubt(20)
			e.advanced(20, stored(20, 5))
		}, nothing, 0},
		{"another offset in doubt, then lowered", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.doubt(20)
			e.update(5, false)
			e.advanced(20, stored(20, 5))
		}, move, 5},
		{"doubt cleared, then the lowering", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(20, true)
			e.doubt(20)
			e.update(15, false)
			e.advanced(20, stored(20, 5))
		}, move, 15},
		{"a lowering that a commit has said is done with", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(50, true)
			e.update(30, false)
			e.next()
			e.advanced(30, stored(500, 5)) // another consumer's is higher
		}, nothing, 0},
		{"moved", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(3, false)
			e.moved(3, stored(3, 9))
		}, nothing, 0},
		{"moved, and lowered meanwhile", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(3, false)
			e.update(1, false)
			e.moved(3, stored(3, 9))
		}, move, 1},
		{"moved, and raised meanwhile", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(3, false)
			e.update(7, true)
			e.moved(3, stored(3, 9))
		}, advance, 7},
		{"moved, raised, then below what another committed", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(3, false)
			e.update(7, true)
			e.moved(3, stored(3, 9))
			e.known = 500
		}, advance, 7},
		{"lowered to what was acknowledged before the commit under way", func(e *entry) {
			e.take(stored(50, 5), testCluster)
			e.update(60, true)
			e.update(50, false)
			e.advanced(60, stored(60, 5))
		}, move, 50},
		{"lowered, then another offset above the store", func(e *entry) {
			e.take(stored(100, 5), testCluster)
			e.update(50, false)
			e.overrule(120)
		}, advance, 120},
		{"that, with a higher commit under way", func(e *entry) {
			e.take(stored(100, 5), testCluster)
			e.update(200, true)
			e.update(50, false)
			e.overrule(120)
			e.advanced(200, stored(200, 5))
		}, move, 120},
		{"raised, then another offset above that", func(e *entry) {
			e.take(stored(100, 5), testCluster)
			e.update(110, true)
			e.overrule(120)
		}, advance, 110},
		{"fenced", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.update(11, true)
			e.fenced = offset.ErrFenced
		}, nothing, 0},
		{"frozen by the application", func(e *entry) {
			e.take(stored(10, 5), testCluster)
			e.freeze(30)
			e.update(99, true)
		}, advance, 30},
	} {
		e := &entry{}
		x.do(e)
		unsaid := e.unsaid()
		st, v := e.next()
		if st != x.want || v != x.value {
			t.Errorf("%s: step %d, %d; want %d, %d", x.name, st, v, x.want, x.value)
		}
		if st != nothing && !unsaid {
			t.Errorf("%s: step %d, and nothing is unsaid", x.name, st)
		}
	}
}

// TestRandomHistories drives one entry against a state that other consumers
// and operators write, too, with answers and requests that get lost or come
// late. Nothing of the entry's may change the key after an act that it has not
// taken over; and once it is left alone it ends where the application is.
func TestRandomHistories(t *testing.T) {
	seed := rand.Uint64()
	for n := range uint64(3000) {
		if err := history(seed, n); err != nil {
			t.Fatalf("seed %d, history %d: %v", seed, n, err)
		}
	}
}

// world is what one random history is played in.
type world struct {
	rng *rand.Rand
	f   *fakeState
	e   *entry
	// acts is how many acts on the key there were, taken how many when the
	// entry was read or moved the key itself.
	acts, taken int
	late        []func()
	err         error
}

func history(seed, n uint64) error {
	w := &world{rng: rand.New(rand.NewPCG(seed, n)), f: newFakeState(1), e: &entry{}}
	for range 40 {
		w.random()
		if w.err != nil {
			return w.err
		}
	}
	for _, f := range w.late {
		f()
	}
	if w.err != nil {
		return w.err
	}
	return w.settle()
}

func (w *world) random() {
	switch w.rng.IntN(10) {
	case 0:
		w.f.reset(key(0), w.rng.Int64N(20))
		w.acts++
	case 1:
		w.f.remove(key(0))
		w.acts++
	case 2:
		st := w.f.fetch([]offset.Key{key(0)})[0]
		w.f.late(key(0), w.rng.Int64N(30), st.Epoch) // another consumer
	case 3:
		if len(w.late) > 0 {
			i := w.rng.IntN(len(w.late))
			w.late[i]()
			w.late = append(w.late[:i], w.late[i+1:]...)
		}
	case 4, 5:
		w.e.update(w.rng.Int64N(30), w.rng.IntN(3) > 0)
	case 6:
		if w.e.fenced != nil || !w.e.read {
			w.read()
		}
	default:
		w.send()
	}
}

func (w *world) read() {
	w.e = &entry{}
	w.e.take(w.f.fetch([]offset.Key{key(0)})[0], testCluster)
	w.taken = w.acts
}

// check notes a change by the entry that undoes an act it has not taken over.
func (w *world) check(before int64, taken int) {
	if after := w.f.at(key(0)); after != before && w.acts > taken {
		w.err = fmt.Errorf("a request of the entry moved the key from %d to %d over an act it had not taken over", before, after)
	}
}

func (w *world) send() {
	unsaid := w.e.unsaid()
	st, v := w.e.next()
	if st != nothing && !unsaid {
		w.err = fmt.Errorf("there is something to say, and nothing is unsaid: %+v", *w.e)
	}
	if w.e.read && w.e.fenced == nil && w.rng.IntN(5) == 0 { // another offset than the value
		st, v = advance, max(w.e.highest(), w.e.known)+w.rng.Int64N(5)
	}
	if st == nothing {
		return
	}
	it, taken := w.e.item(mq(0), st, v), w.taken
	var verdict offset.Verdict
	apply := func() {
		before := w.f.at(key(0))
		if st == advance {
			topics, _ := offset.GroupCommits([]offset.Commit{{Key: key(0), Offset: v, Epoch: it.epoch}})
			verdict = w.f.commit(&offset.Commits{Cluster: testCluster, Topics: topics})[0]
		} else {
			verdict = w.f.set(&offset.Set{Key: key(0), Offset: v, Cluster: testCluster, Epoch: it.epoch, Exists: it.exists, Replaces: it.known})
		}
		w.check(before, taken)
		if st == move && verdict.Code == offset.CodeOK {
			w.acts++ // an act of its own
		}
	}
	lost := w.rng.IntN(6)
	switch {
	case lost == 0: // it comes late
		w.late = append(w.late, apply)
	case lost == 1: // its answer is lost
		apply()
	default:
		apply()
		w.answered(st, v, verdict)
		return
	}
	if st == advance {
		w.e.doubt(v)
	} else {
		w.e.fenced = offset.ErrOutcomeUnknown
	}
}

func (w *world) answered(st step, v int64, verdict offset.Verdict) {
	switch {
	case verdict.Code != offset.CodeOK:
		w.e.fenced = offset.ErrFenced
	case st == advance:
		w.e.advanced(v, verdict.State)
	default:
		w.e.moved(v, verdict.State)
		w.taken = w.acts
	}
}

// settle reads again if need be and sends until nothing is to be said; the key
// is then where the application is, or higher by another's commit.
func (w *world) settle() error {
	if missed := w.f.fetch([]offset.Key{key(0)})[0].Epoch > w.e.epoch; missed || w.e.fenced != nil || !w.e.read {
		w.read()
	}
	for range 4 {
		st, v := w.e.next()
		if st == nothing {
			break
		}
		it := w.e.item(mq(0), st, v)
		var verdict offset.Verdict
		if st == advance {
			topics, _ := offset.GroupCommits([]offset.Commit{{Key: key(0), Offset: v, Epoch: it.epoch}})
			verdict = w.f.commit(&offset.Commits{Cluster: testCluster, Topics: topics})[0]
		} else {
			verdict = w.f.set(&offset.Set{Key: key(0), Offset: v, Cluster: testCluster, Epoch: it.epoch, Exists: it.exists, Replaces: it.known})
		}
		w.answered(st, v, verdict)
		if w.e.fenced != nil {
			w.read()
		}
	}
	if st, _ := w.e.next(); st != nothing {
		return fmt.Errorf("the entry never has nothing to say: %+v", *w.e)
	}
	if w.e.isMaybe {
		return fmt.Errorf("the entry stays in doubt: %+v", *w.e)
	}
	if at := w.f.at(key(0)); w.e.has && at < w.e.value {
		return fmt.Errorf("the key is at %d, the application at %d", at, w.e.value)
	}
	return nil
}
