package fsm

import (
	"reflect"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

func configuration(index uint64, ids ...string) *raft.Log {
	var c raft.Configuration
	for _, id := range ids {
		c.Servers = append(c.Servers, raft.Server{ID: raft.ServerID(id), Address: "a"})
	}
	return &raft.Log{Index: index, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(c)}
}

func announce(id string) entry.Request {
	return entry.Request{Member: &offset.Member{ID: id, API: id + ":7411", MaxLevel: 1}}
}

func reset(id byte, base uint64, keys int) entry.Request {
	r := &offset.Reset{}
	for q := range keys {
		k := key("g")
		k.QueueID = int32(q)
		r.Targets = append(r.Targets, offset.Target{Key: k, Offset: 3})
	}
	return entry.Request{Principal: "admin", From: "192.0.2.7:50112", Act: &offset.Act{ID: offset.ActID{id}, Base: base, Cluster: testCluster, Reset: r}}
}

// Whoever watches an Apply sees each entry of a batch begin.
func TestABatchSaysAtWhichEntryItIs(t *testing.T) {
	var at []uint64
	var f *FSM
	f = New(Config{Cluster: testCluster, Checkpoint: func(uint64, offset.Digest) { at = append(at, f.Applying()) }})
	mark := entry.Request{Checkpoint: true}
	// A configuration publishes what came before it, so that callbacks are called in
	// the middle of the batch.
	f.ApplyBatch([]*raft.Log{sealed(t, 3, mark), configuration(4), sealed(t, 6, mark), configuration(7), sealed(t, 9, mark), sealed(t, 10, mark)})
	if want := []uint64{4, 7, 10, 10}; !reflect.DeepEqual(at, want) {
		t.Errorf("it said that it was at %v, want %v", at, want)
	}
}

// Each request of an entry has an answer of its own, in its order.
func TestEachRequestHasItsAnswer(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	two := commit("g", 5)
	two.Commits.Topics = append(two.Commits.Topics, offset.TopicCommits{Group: "h", Topic: "t", Broker: "b", Queues: []offset.QueueCommit{{Offset: 6}, {QueueID: 1, Offset: 7, Epoch: 99}}})
	set := entry.Request{Set: &offset.Set{Key: key("g"), Offset: 2, Cluster: testCluster, Exists: true, Replaces: 5}}
	a := f.Apply(sealed(t, 4, two, reset(1, 4, 2), entry.Request{Checkpoint: true}, set, commit("i", 8))).(*Answers)
	if a.Index != 4 || a.LastAct != 4 || a.Err != nil || len(a.Requests) != 5 {
		t.Fatalf("the answers are %+v", a)
	}
	var codes [][]offset.Code
	var offsets [][]int64
	for _, r := range a.Requests {
		var c []offset.Code
		var o []int64
		for _, v := range r.Verdicts {
			c, o = append(c, v.Code), append(o, v.State.Position.Offset)
		}
		codes, offsets = append(codes, c), append(offsets, o)
	}
	ok, fenced := offset.CodeOK, offset.CodeFenced
	if want := [][]offset.Code{{ok, ok, fenced}, nil, nil, {fenced}, {ok}}; !reflect.DeepEqual(codes, want) {
		t.Errorf("the verdicts are %v, wanted %v", codes, want)
	}
	if want := [][]int64{{5, 6, 0}, nil, nil, {3}, {8}}; !reflect.DeepEqual(offsets, want) {
		t.Errorf("the offsets are %v, wanted %v", offsets, want)
	}
	if r := a.Requests[1].Act; r.Code != ok || r.Index != 4 || r.Changed != 2 || !r.Done {
		t.Errorf("the act is answered %+v", r)
	}
	if a.Requests[2].Digest == (offset.Digest{}) || a.Requests[2].Digest == f.Root().Digest() {
		t.Errorf("the checkpoint's digest is %s, that of the state after the entry %s", a.Requests[2].Digest, f.Root().Digest())
	}
	if n := cap(a.Requests[0].Verdicts); n != 3 {
		t.Errorf("appending to the first answer would overwrite the next: capacity %d", n)
	}
}

// What a batch answers is published when it is answered, and LastAct is no
// older than the entry.
func TestBatchIsPublishedWhole(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	logs := []*raft.Log{sealed(t, 2, commit("g", 5)), sealed(t, 3, reset(1, 2, 1)), sealed(t, 5, commit("h", 5))}
	for i, a := range f.ApplyBatch(logs) {
		if a := a.(*Answers); a.LastAct != 3 || a.Index != logs[i].Index {
			t.Errorf("entry %d is answered with index %d, last act %d", i, a.Index, a.LastAct)
		}
	}
	if r := f.Root(); r.Index() != 5 || r.LastAct() != 3 || f.Index() != 5 {
		t.Errorf("published: index %d, last act %d", r.Index(), r.LastAct())
	}
}

func ids(f *FSM) (list []string) {
	for _, m := range f.Root().Members() {
		list = append(list, m.ID)
	}
	return list
}

// An announcement goes with its member, wherever batches end.
func TestConfigurationForgetsMembersThatAreGone(t *testing.T) {
	logs := []*raft.Log{
		configuration(1, "n1/a", "n2/b", "n3/c"),
		sealed(t, 2, announce("n1/a"), announce("n2/b")),
		sealed(t, 3, announce("n3/c")),
		configuration(4, "n1/a", "n2/b", "n3/c", "n4/d"),
		configuration(5, "n1/a", "n4/d"),
	}
	var got []uint64
	var records []Record
	config := Config{
		Cluster:       testCluster,
		Configuration: func(index uint64, c raft.Configuration) { got = append(got, index+100*uint64(len(c.Servers))) },
		Audit:         func(r Record) { records = append(records, r) },
	}
	whole := New(config)
	if a := whole.ApplyBatch(logs); a[0] != nil || a[4] != nil || a[1].(*Answers).Index != 2 || a[2].(*Answers).Err != nil {
		t.Errorf("the batch is answered %v", a)
	}
	if want := []uint64{301, 404, 205}; !reflect.DeepEqual(got, want) {
		t.Errorf("the configurations told are %v, wanted %v", got, want)
	}
	if what := words(records); what != "announce announce announce forget forget" || records[4].Index != 5 || records[4].Detail != `member="n3/c"` || records[4].Time == 0 {
		t.Errorf("the records are %s: %+v", what, records)
	}
	single := New(Config{Cluster: testCluster})
	for i, l := range logs {
		single.Apply(l)
		if i == 3 && single.Index() != 3 {
			t.Errorf("a configuration that changes nothing moved the index to %d", single.Index())
		}
	}
	stored := New(Config{Cluster: testCluster})
	stored.ApplyBatch(logs[1:3])
	stored.StoreConfiguration(5, raft.DecodeConfiguration(logs[4].Data))
	for what, f := range map[string]*FSM{"one batch": whole, "single entries": single, "StoreConfiguration": stored} {
		if list := ids(f); !reflect.DeepEqual(list, []string{"n1/a"}) || f.Index() != 5 {
			t.Errorf("%s: the members are %v, the index %d", what, list, f.Index())
		}
		same(t, what, f.Root(), whole.Root())
	}
}

func words(list []Record) (s string) {
	for i, r := range list {
		if i > 0 {
			s += " "
		}
		s += r.What
	}
	return s
}

// The digest of a checkpoint is that of its own index, wherever batches end.
func TestCheckpointNotesTheDigestOfItsIndex(t *testing.T) {
	h := newHistory(t, 9, 200)
	notes := func(batch int) map[uint64]offset.Digest {
		m := map[uint64]offset.Digest{}
		f := New(Config{Cluster: testCluster, Checkpoint: func(index uint64, d offset.Digest) { m[index] = d }})
		for logs := h.logs; len(logs) > 0; {
			n := min(batch, len(logs))
			f.ApplyBatch(logs[:n])
			logs = logs[n:]
		}
		return m
	}
	one := notes(1)
	if len(one) < 5 {
		t.Fatalf("the history has %d checkpoints only", len(one))
	}
	for _, batch := range []int{3, 64, len(h.logs)} {
		if m := notes(batch); !reflect.DeepEqual(m, one) {
			t.Errorf("in batches of %d the digests are %v, one by one %v", batch, m, one)
		}
	}
}

func TestDigestsTellStatesApart(t *testing.T) {
	h := newHistory(t, 10, 200)
	f, g := New(Config{Cluster: testCluster}), New(Config{Cluster: testCluster})
	seen := map[offset.Digest]uint64{}
	for _, l := range h.logs {
		f.Apply(l)
		if at, ok := seen[f.Root().Digest()]; ok && at != f.Index() {
			t.Errorf("the states at %d and %d have the same digest", at, f.Index())
		}
		seen[f.Root().Digest()] = f.Index()
		if g.Apply(l); g.Root().Digest() != f.Root().Digest() {
			t.Fatalf("two replicas differ at %d", l.Index)
		}
	}
	one, two := commit("x", 1), commit("x", 2)
	one.Commits.Topics[0].Queues[0].Epoch = f.Root().Get(key("x")).Epoch
	two.Commits.Topics[0].Queues[0].Epoch = one.Commits.Topics[0].Queues[0].Epoch
	if a, b := f.Apply(sealed(t, 9_999, one)), g.Apply(sealed(t, 9_999, two)); f.Root().Digest() == g.Root().Digest() {
		t.Errorf("two replicas that applied other entries have equal digests: %+v, %+v", a, b)
	}
}

func toLogs(list ...*raft.Log) []*raft.Log { return list }
