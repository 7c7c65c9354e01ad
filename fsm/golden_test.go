package fsm

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

var update = flag.Bool("update", false, "write the golden files anew; a change of a released level breaks every cluster that uses it")

// goldenLog brings about a state that has something of everything.
func goldenLog(t testing.TB) []*raft.Log {
	act := func(id byte, base uint64, set func(*offset.Act)) entry.Request {
		a := &offset.Act{ID: offset.ActID{id}, Base: base, Cluster: testCluster}
		set(a)
		return entry.Request{Principal: "admin", From: "192.0.2.7:50112", Act: a}
	}
	target := func(group string, queue int32, off int64) offset.Target {
		k := key(group)
		k.QueueID = queue
		return offset.Target{Key: k, Offset: off}
	}
	requests := []entry.Request{
		{Member: &offset.Member{ID: "n1/0a1b2c", API: "n1.example:7411", MaxLevel: 1}},
		{Member: &offset.Member{ID: "n2/3d4e5f", API: "n2.example:7411", MaxLevel: 1}},
		act(1, 0, func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportBegin, Mode: offset.ImportReplace, Chunks: 1, Offsets: 2}
		}),
		act(1, 0, func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{target("brought", 0, 40), target("brought", 1, 41)}}
		}),
		act(1, 4, func(a *offset.Act) { a.Import = &offset.Import{Step: offset.ImportSwap} }),
		act(2, 5, func(a *offset.Act) {
			a.Remove = &offset.Remove{Scope: offset.Scope{Topic: "gone"}}
		}),
		act(3, 6, func(a *offset.Act) {
			a.Take = &offset.Take{ByBroker: true, Name: "b", Holder: "DefaultCluster/store-1"}
		}),
		act(4, 7, func(a *offset.Act) {
			a.Reset = &offset.Reset{Targets: []offset.Target{target("reset", 0, 7), target("reset", 3, 1<<40)}}
		}),
		act(5, 8, func(a *offset.Act) { a.Clone = &offset.Clone{From: "nobody", To: "else"} }),
		act(6, 9, func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportBegin, Mode: offset.ImportReplace, Group: "staged", Hash: [32]byte{0xab}, Chunks: 2, Offsets: 3}
		}),
		act(6, 9, func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{target("staged", 0, 50), target("staged", 1, 51)}}
		}),
		act(7, 11, func(a *offset.Act) { a.Remove = &offset.Remove{Scope: offset.Scope{Group: "removed"}} }),
	}
	var logs []*raft.Log
	for i, r := range requests {
		logs = append(logs, sealed(t, uint64(i)+1, r))
	}
	commits := entry.Request{Commits: &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{
		{Group: "brought", Topic: "t", Broker: "b", Queues: []offset.QueueCommit{{QueueID: 1, Offset: 99, Epoch: 7}}},
		{Group: "new", Topic: "other", Broker: "", Queues: []offset.QueueCommit{{QueueID: 5, Offset: 1<<63 - 1, Epoch: 5}, {QueueID: 70_000, Offset: 0, Epoch: 5}}},
	}}}
	return append(logs, sealed(t, 20, commits))
}

const goldenFile = "testdata/level1/state.snapshot"

// TestGoldenSnapshot fails on any change of a byte that is written.
func TestGoldenSnapshot(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	for _, l := range goldenLog(t) {
		f.Apply(l)
	}
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	data := snap(t, f)
	if *update {
		if err := os.MkdirAll(filepath.Dir(goldenFile), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenFile, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := goldenSnapshot(t); !bytes.Equal(data, want) {
		t.Fatalf("the snapshot is\n%x\nand was, in %s,\n%x", data, goldenFile, want)
	}
}

func goldenSnapshot(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOldSnapshotRestores reads what level 1 wrote when it was new, and looks
// at what it was meant to hold.
func TestOldSnapshotRestores(t *testing.T) {
	root := restored(t, goldenSnapshot(t)).Root()
	if root.Index() != 20 || root.LastAct() != 12 || root.Level() != 1 || root.Cluster() != testCluster || root.Time() != 1_700_000_000_000 {
		t.Errorf("index %d, last act %d, level %d, cluster %s, time %d", root.Index(), root.LastAct(), root.Level(), root.Cluster(), root.Time())
	}
	at := func(group, topic, broker string, queue int32) offset.Key {
		return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker, QueueID: queue}}
	}
	const now = 1_700_000_000_000
	for k, want := range map[offset.Key]offset.KeyState{
		at("brought", "t", "b", 0):           {Exists: true, Epoch: 7, Claim: 7, Position: offset.Position{Offset: 40, Index: 5, Epoch: 5, Time: now}},
		at("brought", "t", "b", 1):           {Exists: true, Epoch: 7, Claim: 7, Position: offset.Position{Offset: 99, Index: 20, Epoch: 5, Time: now}},
		at("reset", "t", "b", 0):             {Exists: true, Epoch: 8, Claim: 7, Position: offset.Position{Offset: 7, Index: 8, Epoch: 8, Time: now, Pending: true}},
		at("reset", "t", "b", 3):             {Exists: true, Epoch: 8, Claim: 7, Position: offset.Position{Offset: 1 << 40, Index: 8, Epoch: 8, Time: now, Pending: true}},
		at("new", "other", "", 5):            {Exists: true, Epoch: 5, Position: offset.Position{Offset: 1<<63 - 1, Index: 20, Epoch: 5, Time: now}},
		at("new", "other", "", 70_000):       {Exists: true, Epoch: 5, Position: offset.Position{Index: 20, Epoch: 5, Time: now}},
		at("removed", "t", "", 0):            {Epoch: 12, Position: offset.Position{Epoch: 12}},
		at("nobody", "gone", "", 0):          {Epoch: 6, Position: offset.Position{Epoch: 6}},
		at("staged", "t", "b", 0):            {Epoch: 7, Claim: 7, Position: offset.Position{Epoch: 5}},
		at("somebody", "at all", "none", 77): {Epoch: 5, Position: offset.Position{Epoch: 5}},
	} {
		if got := root.Get(k); got != want {
			t.Errorf("%s is\n%+v, wanted\n%+v", k, got, want)
		}
	}
	i := root.Import()
	if i == nil || *i != (offset.ImportStatus{ID: offset.ActID{6}, Mode: offset.ImportReplace, Group: "staged", Hash: [32]byte{0xab}, Chunks: 2, Offsets: 3, Next: 1, Base: 9}) {
		t.Errorf("the import under way is %+v", i)
	}
	if m := root.Members(); len(m) != 2 || m[1] != (offset.Member{ID: "n2/3d4e5f", API: "n2.example:7411", MaxLevel: 1}) {
		t.Errorf("the members are %+v", m)
	}
	if c := root.Claims(); len(c) != 1 || c[0] != (table.Claim{ByBroker: true, Name: "b", Holder: "DefaultCluster/store-1", Index: 7}) {
		t.Errorf("the claims are %+v", c)
	}
	acts := root.Rest().Acts
	if len(acts) != 7 || acts[4].Result.Code != offset.CodeNotFound || acts[3].Result.Changed != 2 {
		t.Errorf("the acts remembered are %+v", acts)
	}
	if q := root.Rest(); q.Queues != 6 || q.StagedQueues != 2 || root.Groups() != 3 {
		t.Errorf("%d queues of %d groups, %d staged", q.Queues, root.Groups(), q.StagedQueues)
	}
}
