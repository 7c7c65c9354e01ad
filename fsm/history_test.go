package fsm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

var testCluster = offset.ClusterID{0xc1, 0xc2, 15: 0xcf}

// history is a log, made by playing it: what it asks for is what callers who
// read the state could ask for.
type history struct {
	r    *rand.Rand
	logs []*raft.Log
	// live is where it was played first, one entry a batch, and answers what
	// that gave.
	live    *FSM
	answers []any

	index  uint64
	time   int64
	act    byte
	step   *offset.Act // a cut act that is to go on
	next   uint32
	imp    *offset.Act    // begin of the import under way
	carry  *entry.Request // did not fit into the entry before
	chunks uint32
}

// newHistory plays n entries. The seed is printed if the test fails.
func newHistory(t testing.TB, seed uint64, n int) *history {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the history's seed is %d", seed)
		}
	})
	h := &history{r: rand.New(rand.NewPCG(seed, 7)), live: New(Config{Cluster: testCluster}), time: 1_700_000_000_000}
	for range n {
		h.entry(t)
	}
	return h
}

// entry plays one entry.
func (h *history) entry(t testing.TB) {
	h.index += 1 + uint64(h.r.IntN(8)/7) // raft has entries that no FSM sees
	h.time += h.r.Int64N(2000) - 200     // leaders' clocks differ
	l := &raft.Log{Index: h.index, Term: 1}
	if h.r.IntN(12) == 0 {
		l.Type, l.Data = raft.LogConfiguration, raft.EncodeConfiguration(h.configuration())
	} else {
		l.Data = h.command(t)
	}
	h.logs = append(h.logs, l)
	answer := h.live.Apply(l)
	if err := h.live.Err(); err != nil {
		t.Fatalf("the entry at %d: %v", h.index, err)
	}
	h.answers = append(h.answers, answer)
	h.follow(answer)
}

// follow lets the next entries go on with what an act began.
func (h *history) follow(answer any) {
	a, ok := answer.(*Answers)
	if !ok || h.step == nil {
		return
	}
	for _, r := range a.Requests {
		if r.Act.Index == h.index {
			if h.next = r.Act.Next; r.Act.Done {
				h.step = nil
			}
		}
	}
}

func (h *history) configuration() (c raft.Configuration) {
	for i := range 3 {
		if h.r.IntN(4) > 0 {
			c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(member(i)), Address: "a"})
		}
	}
	return c
}

func member(i int) string { return fmt.Sprintf("n%d/0a1b", i) }

// command makes the bytes of an entry of one to four requests.
func (h *history) command(t testing.TB) []byte {
	b := entry.NewBuilder(testCluster, 1)
	for range 1 + h.r.IntN(4) {
		r := h.carry
		if h.carry = nil; r == nil {
			r = h.request()
		}
		r.Principal, r.From = "someone", fmt.Sprintf("192.0.2.%d:4000", h.r.IntN(3))
		if r.Alone() && b.Count() > 0 {
			break
		}
		if err := b.Add(r); errors.Is(err, offset.ErrBusy) && b.Count() > 0 {
			h.carry = r
			break
		} else if err != nil {
			t.Fatalf("adding %+v: %v", r, err)
		}
		if r.Alone() {
			break
		}
	}
	return b.Seal(h.time)
}

func (h *history) request() *entry.Request {
	switch k := h.r.IntN(20); {
	case k < 10:
		return &entry.Request{Commits: h.commits()}
	case k < 12:
		return &entry.Request{Set: h.set()}
	case k < 17:
		return h.anAct()
	case k == 17:
		return &entry.Request{Member: &offset.Member{ID: member(h.r.IntN(3)), API: fmt.Sprintf("h:%d", h.r.IntN(9)), MaxLevel: 1}}
	case k == 18:
		return &entry.Request{Forget: member(h.r.IntN(3))}
	}
	if h.r.IntN(4) == 0 {
		return &entry.Request{Level: 1}
	}
	return &entry.Request{Checkpoint: true}
}

func (h *history) key() offset.Key {
	return offset.Key{Group: fmt.Sprintf("g%d", h.r.IntN(5)), MessageQueue: offset.MessageQueue{
		Topic: fmt.Sprintf("t%d", h.r.IntN(4)), Broker: []string{"", "b1", "b2"}[h.r.IntN(3)], QueueID: h.r.Int32N(40),
	}}
}

// cluster is mostly the right one.
func (h *history) cluster() offset.ClusterID {
	if h.r.IntN(30) == 0 {
		return offset.ClusterID{1}
	}
	return testCluster
}

func (h *history) commits() *offset.Commits {
	var list []offset.Commit
	for range 1 + h.r.IntN(20) {
		c := offset.Commit{Key: h.key(), Offset: h.r.Int64N(1000)}
		c.Epoch = h.live.Root().Get(c.Key).Epoch
		if h.r.IntN(20) == 0 {
			c.Epoch += h.r.Uint64N(3)
		}
		list = append(list, c)
	}
	topics, _ := offset.GroupCommits(list)
	return &offset.Commits{Cluster: h.cluster(), Atomic: h.r.IntN(4) == 0, Topics: topics}
}

func (h *history) set() *offset.Set {
	k := h.key()
	s := h.live.Root().Get(k)
	set := &offset.Set{
		Key: k, Offset: h.r.Int64N(1000), Cluster: h.cluster(), Epoch: s.Epoch,
		Exists: s.Exists, Replaces: s.Position.Offset, Operator: h.r.IntN(2) == 0,
	}
	if set.Operator {
		set.Epoch = s.Position.Epoch
	}
	return set
}

func (h *history) targets(n int) (list []offset.Target) {
	for range n {
		list = append(list, offset.Target{Key: h.key(), Offset: h.r.Int64N(2000)})
	}
	return list
}

// anAct makes a new act, a resend's like, or the next step of one under way.
func (h *history) anAct() *entry.Request {
	if h.step != nil {
		return &entry.Request{Act: h.step, Step: h.next}
	}
	if h.imp != nil && h.r.IntN(2) == 0 {
		return &entry.Request{Act: h.importStep()}
	}
	h.act++
	a := &offset.Act{ID: offset.ActID{h.act, byte(h.index), byte(h.index >> 8), 1}, Base: h.index - min(h.index, uint64(h.r.IntN(3))), Cluster: h.cluster()}
	k := h.key()
	switch h.r.IntN(9) {
	case 0, 1:
		a.Reset = &offset.Reset{Targets: h.targets(1 + h.r.IntN(150))}
	case 2:
		a.Remove = &offset.Remove{Scope: offset.Scope{Group: k.Group, Topic: k.Topic}}
	case 3:
		a.Remove = &offset.Remove{Scope: offset.Scope{Topic: k.Topic, HasBroker: true, Broker: k.Broker}}
	case 4:
		a.Remove = &offset.Remove{Scope: offset.Scope{Group: k.Group, Topic: k.Topic, HasBroker: true, Broker: k.Broker, HasQueue: true, QueueID: k.QueueID}}
	case 5:
		a.Clone = &offset.Clone{From: k.Group, To: "g9"}
	case 6:
		a.Expire = &offset.Expire{Groups: []offset.Idle{{Group: k.Group, Seen: h.index - min(h.index, 10)}, {Group: "g9", Seen: h.index}}}
	case 7:
		a.Take = &offset.Take{ByBroker: h.r.IntN(2) == 0, Name: k.Broker, Holder: "holder"}
		if !a.Take.ByBroker {
			a.Take.Name = k.Group
		}
		return &entry.Request{Act: a}
	default:
		return &entry.Request{Act: h.begin(a)}
	}
	h.step, h.next = a, 0
	return &entry.Request{Act: a}
}

func (h *history) begin(a *offset.Act) *offset.Act {
	mode := offset.ImportMode(h.r.IntN(2))
	a.Import = &offset.Import{Step: offset.ImportBegin, Mode: mode, Hash: [32]byte{h.act}, Chunks: 3, Offsets: 300}
	if mode == offset.ImportReplace && h.r.IntN(2) == 0 {
		a.Import.Group = "g3"
	}
	if h.imp == nil || h.r.IntN(3) == 0 {
		h.imp, h.chunks = a, 0
	}
	return a
}

func (h *history) importStep() *offset.Act {
	a := *h.imp
	mode := a.Import.Mode
	a.Import = &offset.Import{Step: offset.ImportChunk, Mode: mode, Chunk: h.chunks, Targets: h.chunk()}
	switch {
	case h.r.IntN(20) == 0:
		a.Import = &offset.Import{Step: offset.ImportAbort}
		h.imp = nil
	case h.chunks < 3:
		h.chunks++
	case mode == offset.ImportReplace:
		a.Base = h.index
		a.Import = &offset.Import{Step: offset.ImportSwap}
		h.imp = nil
	default:
		h.imp = nil
	}
	return &a
}

// chunk is sorted, and its keys are above those of the chunk before.
func (h *history) chunk() (list []offset.Target) {
	group, topic := fmt.Sprintf("g%d", h.chunks), "t1"
	if h.imp.Import.Group != "" {
		group, topic = h.imp.Import.Group, fmt.Sprintf("t%d", h.chunks)
	}
	for q := range 1 + h.r.Int32N(100) {
		k := offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: "b1", QueueID: q}}
		list = append(list, offset.Target{Key: k, Offset: h.r.Int64N(2000)})
	}
	return list
}
