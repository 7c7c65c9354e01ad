package table

import (
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestActWithTheIDOfAnImportUnderWay: it is refused, and the import goes on. Were
// it taken for the import's next entry, the import's id would count as done and be
// forgotten with the import under way, and its next chunk could not be applied.
func TestActWithTheIDOfAnImportUnderWay(t *testing.T) {
	for name, body := range map[string]offset.Act{
		"reset":  resetAct(1, qkey("g", "t", 0)),
		"remove": removeAct(offset.Scope{Group: "g"}),
		"clone":  {Clone: &offset.Clone{From: "g", To: "h"}},
		"expire": {Expire: &offset.Expire{Groups: []offset.Idle{{Group: "g", Seen: 99}}}},
		"claim":  takeAct(false, "g"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			k := qkey("g", "t", 0)
			s.commit(k, 10, 0)
			imp := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportMerge, Chunks: 1}})
			s.send(imp)
			want := s.get(k)

			act := body
			act.ID, act.Base, act.Cluster = imp.ID, s.at, testCluster
			s.begin()
			res := s.Act(&act, 0, nil)
			s.want("the answer", res, offset.ActResult{Code: offset.CodeImportBusy, Index: s.at, Done: true})
			s.want("the key", s.get(k), want)
			for range offset.MaxActs + 1 {
				s.do(offset.Act{Clone: &offset.Clone{From: "nobody", To: "h"}})
			}
			chunk := *imp
			chunk.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: k, Offset: 20}}}
			s.want("the chunk", s.send(&chunk), offset.ActResult{Index: s.at, Done: true, Changed: 1})
			s.wantOffset(k, 20)
		})
	}
}

// TestActWithAnIDThatStandsForAnother: it is refused and changes nothing, and the
// act that the id stands for goes on; the very same gets the answer it had.
func TestActWithAnIDThatStandsForAnother(t *testing.T) {
	k, other := qkey("g", "t", 0), qkey("h", "t", 0)
	for name, pair := range map[string][2]offset.Act{
		"reset":        {resetAct(1, k), resetAct(2, k)},
		"reset, more":  {resetAct(1, k), resetAct(1, k, other)},
		"remove":       {removeAct(offset.Scope{Group: "g"}), removeAct(offset.Scope{Group: "h"})},
		"remove topic": {removeAct(offset.Scope{Group: "g"}), removeAct(offset.Scope{Topic: "g"})},
		"clone":        {{Clone: &offset.Clone{From: "g", To: "x"}}, {Clone: &offset.Clone{From: "g", To: "h"}}},
		"expire":       {{Expire: &offset.Expire{Groups: []offset.Idle{{Group: "g", Seen: 99}}}}, {Expire: &offset.Expire{Groups: []offset.Idle{{Group: "h", Seen: 99}}}}},
		"claim":        {takeAct(false, "g"), takeAct(true, "g")},
		"of two kinds": {takeAct(false, "g"), removeAct(offset.Scope{Group: "g"})},
		"import":       {{Import: &offset.Import{Mode: offset.ImportMerge}}, {Import: &offset.Import{Mode: offset.ImportMerge, Chunks: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.commit(k, 10, 0)
			s.commit(other, 20, 0)
			first := s.newAct(pair[0])
			want := s.send(first)
			second := pair[1]
			second.ID, second.Base, second.Cluster = first.ID, first.Base, testCluster
			before := []offset.KeyState{s.get(k), s.get(other)}
			s.begin()
			s.want("the other", s.Act(&second, 0, nil), offset.ActResult{Code: offset.CodeInvalid, Index: s.at, Done: true})
			s.want("the keys", []offset.KeyState{s.get(k), s.get(other)}, before)
			s.want("the first again", s.send(first), want)
		})
	}
}

// TestAbortSentAgain gets the answer that it had.
func TestAbortSentAgain(t *testing.T) {
	s := newScript(t)
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Chunks: 1}})
	s.send(a)
	a.Import = &offset.Import{Step: offset.ImportAbort}
	want := s.send(a)
	s.wantCode("the abort", want.Code, offset.CodeOK)
	s.want("again", s.send(a), want)
	a.Import = &offset.Import{Step: offset.ImportSwap}
	s.wantCode("a swap of what was aborted", s.send(a).Code, offset.CodeNoImport)
}
