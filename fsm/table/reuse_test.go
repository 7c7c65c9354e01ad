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
