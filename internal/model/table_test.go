package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestTableFollowsTheModel sends the same random requests, late and repeated ones
// among them, to the model's store and to the table that ships. After each both
// answer the same and hold the same: positions with their marks, epochs, claims,
// the index of the last act. With SOAK=1 it goes on for a minute.
func TestTableFollowsTheModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	until, least := time.Now(), 200
	if os.Getenv("SOAK") != "" {
		until = until.Add(time.Minute)
	}
	met := map[string]int{}
	n := uint64(0)
	for ; n < uint64(least) || time.Now().Before(until); n++ {
		newDuel(t, seed+n, n%2 == 1, met).play(110)
	}
	for _, what := range mustMeet {
		if met[what] == 0 {
			t.Errorf("%d histories never met: %s", n, what)
		}
	}
}

// mustMeet are situations without which the test would not show much, in the
// words of Model.hit.
var mustMeet = []string{
	"commit fenced", "commit creates", "commit raises", "commit raises nothing", "pending position followed",
	"set applied", "set fenced", "reset applied", "remove-group applied", "remove-topic applied", "clone applied", "expire applied",
	"expire skips what moved", "act meets a newer epoch", "resent act gets its first answer", "act refused: issued before the window",
	"an act id forgotten", "a scope's floor forgotten, floor for all raised", "claim applied", "claim superseded",
	"act refused: it came through an instance that lost its claim", "import begins", "import aborted", "merge raises",
	"merge leaves alone what an act moved since its begin", "swap applied", "swap refused: an act came in between",
	"chunk or swap of a finished import gets its answer", "part applied", "part leaves alone what an act moved since",
}

// The clusters of the model's numbers 0 and 1.
var clusters = [2]offset.ClusterID{{7}, {9}}

// duel is one history.
type duel struct {
	*testing.T
	*rand.Rand
	m     Model
	s     State
	tab   *table.Table
	parts bool // removals of groups are cut, one key an entry
	log   []string
	acts  uint8       // issued
	kinds [maxA]uint8 // of acts, by their numbers
	cut   Msg         // the removal that was cut last
	alone bool        // the entry holds a claim
	sent  []Msg
	saw   []sight
}

// sight is what somebody saw of a key when the entry at index at was the last.
type sight struct {
	key               uint8
	pos               Pos
	epoch, own, index uint8
	at                uint8
}

func newDuel(t *testing.T, seed uint64, parts bool, met map[string]int) *duel {
	d := &duel{T: t, Rand: rand.New(rand.NewPCG(seed, 4)), parts: parts}
	d.m = Model{
		Config: Config{NK: maxK, Group: [maxK]uint8{0, 0, 1, 1}, Topic: [maxK]uint8{0, 1, 0, 1}, W: maxW, Claims: true,
			Init: [maxK]int8{no, no, no, no}, Content: [maxK]int8{3, no, 1, 2}},
		Rule: Repaired(), cov: met,
	}
	d.m.ScopedFloor = 1 + d.IntN(2) // of four scopes: what is forgotten shows
	d.s = d.m.initial()
	b := table.Bounds{Acts: maxW, Floors: d.m.ScopedFloor, Step: 100}
	if parts {
		b.Step = 1
	}
	d.tab = table.NewBounded(clusters[0], b)
	d.tab.Begin(uint64(d.s.St.Idx), 0)
	return d
}

func (d *duel) play(requests int) {
	for range requests {
		fresh := d.alone || d.IntN(3) > 0
		if !fresh { // nobody has seen the entry before it ends
			d.saw = slices.DeleteFunc(d.saw, func(x sight) bool { return x.at == d.s.St.Idx })
		}
		g, ok := d.next()
		if !ok {
			continue
		}
		d.send(g, fresh || g.AK == aClaim)
		d.look()
	}
}

// look remembers what a reader sees now of some key.
func (d *duel) look() {
	st, k := &d.s.St, d.IntN(maxK)
	d.saw = append(d.saw, sight{uint8(k), st.K[k], d.m.epochOf(st, k), d.m.ownEpoch(st, k), d.m.indexOf(st, k), st.Idx})
	if len(d.saw) > 6 {
		d.saw = d.saw[1:]
	}
}

// send has both apply a request, in a fresh entry or in the last one, and compares.
func (d *duel) send(g Msg, fresh bool) {
	d.alone = g.AK == aClaim
	if fresh {
		d.tab.Begin(uint64(d.s.St.Idx)+1, 0)
	}
	d.log = append(d.log, fmt.Sprintf("fresh %v: %+v", fresh, g))
	begins := g.AK == aImpReplace && g.Step == 0 && d.s.St.ImpID == 0
	d.s.N, d.s.viol = 0, ""
	g.Cur = true
	d.m.apply1(&d.s, g, fresh)
	got, want := d.table(g, begins), "" // nothing, if a further part follows
	d.tab.Publish()
	if r := &d.s.Net[0]; d.s.N > 0 && r.Kind == mReply {
		want = resName[r.Res]
	}
	if got != want && want != "" && g.AK != aAbort {
		d.fail("the table answers %q, the model %q", got, want)
	}
	d.compare()
}

func (d *duel) fail(format string, args ...any) {
	d.Fatalf("%s, after\n%s", fmt.Sprintf(format, args...), strings.Join(d.log, "\n"))
}

// compare compares all that both hold.
func (d *duel) compare() {
	r, st := d.tab.Root(), &d.s.St
	for k, p := range st.K {
		got, want := r.Get(d.key(uint8(k))), offset.KeyState{
			Exists: p.Has, Position: offset.Position{Offset: int64(p.Off), Index: uint64(p.Idx), Epoch: uint64(d.m.ownEpoch(st, k)), Pending: p.Pend},
			Epoch: uint64(d.m.epochOf(st, k)), Claim: uint64(d.m.claimOf(st, k)),
		}
		if got != want {
			d.fail("key %d is %+v in the table, %+v in the model", k, got, want)
		}
	}
	if r.LastAct() != uint64(st.LastAct) || (r.Import() != nil) != (st.ImpID > 0) {
		d.fail("last act %d, import %+v; want %d, %d", r.LastAct(), r.Import(), st.LastAct, st.ImpID)
	}
}

// table has the table apply a request, and names its answer as the model does.
func (d *duel) table(g Msg, begins bool) string {
	switch {
	case g.Kind == mCommit:
		k := d.key(g.Key)
		v := d.tab.Commit(&offset.Commits{Cluster: clusters[g.Cl], Topics: []offset.TopicCommits{{Group: k.Group, Topic: k.Topic, Broker: k.Broker,
			Queues: []offset.QueueCommit{{QueueID: k.QueueID, Offset: int64(g.Val), Epoch: uint64(g.Ep)}}}}}, nil)[0]
		return d.verdict(k, v)
	case g.AK == aSet:
		s := offset.Set{Key: d.key(g.Key), Offset: int64(g.Val), Cluster: clusters[g.Cl], Exists: g.RHas, Replaces: int64(g.ROff), Epoch: uint64(g.REp)}
		if g.Who >= maxC {
			s.Operator, s.Claim = true, uint64(g.Cla)
		}
		return d.verdict(s.Key, d.tab.Set(&s, nil))
	}
	res := d.tab.Act(d.act(g), uint32(g.Step)*b2i(g.Kind == mPart), nil)
	if begins && !res.Done {
		chunk := d.act(g)
		chunk.Import = &offset.Import{Step: offset.ImportChunk, Targets: d.content()}
		d.tab.Act(chunk, 0, nil)
	}
	if res.Code == offset.CodeSuperseded && res.Kept > 0 && g.Kind == mPart {
		return resName[rOK] // the model has a part that left every key alone done as well
	}
	return actResults[res.Code]
}

var actResults = map[offset.Code]string{
	offset.CodeOK: resName[rOK], offset.CodeTooOld: resName[rTooOld], offset.CodeSuperseded: resName[rSuperseded],
	offset.CodeNotFound: resName[rNotFound], offset.CodeImportBusy: resName[rBusy], offset.CodeNoImport: resName[rGone],
}

// verdict compares what a verdict says of a key with what there is.
func (d *duel) verdict(k offset.Key, v offset.Verdict) string {
	d.tab.Publish()
	if st := d.tab.Root().Get(k); st != v.State {
		d.fail("the verdict says %+v of %s, it is %+v", v.State, k, st)
	}
	return map[offset.Code]string{offset.CodeOK: resName[rOK], offset.CodeFenced: resName[rFenced]}[v.Code]
}

func b2i(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (d *duel) key(k uint8) offset.Key {
	return offset.Key{Group: groupName(d.m.Group[k]), MessageQueue: offset.MessageQueue{Topic: topicName(d.m.Topic[k]), Broker: "b"}}
}

func groupName(g uint8) string { return fmt.Sprintf("g%d", g) }
func topicName(t uint8) string { return fmt.Sprintf("t%d", t) }

func (d *duel) targets(val func(k int) int8, in func(k int) bool) (list []offset.Target) {
	for k := range maxK {
		if in(k) && val(k) >= 0 {
			list = append(list, offset.Target{Key: d.key(uint8(k)), Offset: int64(val(k))})
		}
	}
	return list
}

func (d *duel) content() []offset.Target {
	return d.targets(func(k int) int8 { return d.m.Content[k] }, func(int) bool { return true })
}

// act translates an act.
func (d *duel) act(g Msg) *offset.Act {
	a := &offset.Act{ID: offset.ActID{1, g.Act}, Base: uint64(g.Base), Cluster: clusters[g.Cl], Claim: uint64(g.Cla)}
	switch g.AK {
	case aReset:
		in := func(k int) bool { return d.m.Group[k] == g.Key }
		a.Reset = &offset.Reset{Targets: d.targets(func(int) int8 { return g.Val }, in)}
	case aRemoveG, aRemoveParts:
		a.Remove = &offset.Remove{Scope: offset.Scope{Group: groupName(g.Key)}}
	case aRemoveT:
		a.Remove = &offset.Remove{Scope: offset.Scope{Topic: topicName(g.Key)}}
	case aClone:
		a.Clone = &offset.Clone{From: groupName(g.Key), To: groupName(g.Key2)}
	case aExpire:
		a.Expire = &offset.Expire{Groups: []offset.Idle{{Group: groupName(g.Key), Seen: uint64(g.Ep)}}}
	case aClaim:
		a.Take = &offset.Take{ByBroker: g.Key == 0, Name: "b", Holder: "h"}
		if g.Key > 0 {
			a.Take.Name = groupName(g.Key - 1)
		}
	case aAbort:
		a.ID[1] = g.Key2
		a.Import = &offset.Import{Step: offset.ImportAbort}
	default:
		a.Import = d.importStep(g)
	}
	return a
}

func (d *duel) importStep(g Msg) *offset.Import {
	switch {
	case g.Step == 0 && g.AK == aImpMerge:
		return &offset.Import{Chunks: maxK}
	case g.Step == 0:
		return &offset.Import{Mode: offset.ImportReplace, Chunks: 1}
	case g.AK == aImpReplace:
		return &offset.Import{Step: offset.ImportSwap}
	}
	k := int(g.Step) - 1
	return &offset.Import{Step: offset.ImportChunk, Chunk: uint32(k), Targets: d.targets(func(int) int8 { return d.m.Content[k] }, func(j int) bool { return j == k })}
}
