package table

import (
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestSwapCountsWhatItLowers, of one group and of all, as of its entry: also what
// was committed in that entry before it counts, and nothing that comes after.
func TestSwapCountsWhatItLowers(t *testing.T) {
	r := rand.New(rand.NewPCG(seedOf(t), 0))
	draw := func(groups int32) offset.Key {
		return qkey(string('a'+r.Int32N(groups)), string('t'+r.Int32N(3)), r.Int32N(300))
	}
	for _, group := range []string{"", "b"} {
		s := newScript(t)
		was := map[offset.Key]int64{}
		commit := func(k offset.Key, off int64) {
			v := s.commitHere(k, off, 0)
			s.wantCode("commit", v.Code, offset.CodeOK)
			was[k] = v.State.Position.Offset
		}
		for range 1500 {
			s.begin()
			commit(draw(3), r.Int64N(20))
			if r.IntN(9) == 0 {
				s.Publish()
			}
		}
		a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: group, Chunks: 1}})
		s.send(a)
		a.Import = &offset.Import{Step: offset.ImportChunk}
		brings := map[offset.Key]int64{}
		for range 1500 {
			if k := draw(4); group == "" || k.Group == group {
				brings[k] = r.Int64N(20)
			}
		}
		for k, off := range brings {
			a.Import.Targets = append(a.Import.Targets, offset.Target{Key: k, Offset: off})
		}
		s.send(a)
		a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
		s.begin()
		for range 50 {
			commit(draw(3), 30)
		}
		want := uint64(0)
		for k, off := range was {
			if to, ok := brings[k]; ok && to < off {
				want++
			}
		}
		ch := &Changes{}
		s.wantCode("the swap", s.Act(a, 0, ch).Code, offset.CodeOK)
		for k := range brings { // in the same batch
			s.begin()
			s.commitHere(k, 50, s.at)
		}
		s.Publish()
		for k := range brings {
			s.begin()
			s.commitHere(k, 60, s.Root().Get(k).Epoch)
		}
		s.Publish()
		if got := ch.Lowered(); got != want || want == 0 {
			t.Errorf("replacing %q lowers %d keys, want %d", group, got, want)
		}
		checkWhole(t, s.Root())
	}
}

// TestOnlyASwapLowersInOne: all else says what it did key by key.
func TestOnlyASwapLowersInOne(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	ch := &Changes{}
	s.begin()
	s.Act(s.newAct(resetAct(1, k)), 0, ch)
	if ch.Lowered != nil {
		t.Error("a reset counts as a swap does")
	}
}
