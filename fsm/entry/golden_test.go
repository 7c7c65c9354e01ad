package entry

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

var update = flag.Bool("update", false, "write the golden files anew; a change of a released level breaks every cluster that uses it")

var (
	goldenCluster = offset.ClusterID{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f}
	otherCluster  = offset.ClusterID{0xee}
	goldenAct     = offset.ActID{0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}
)

func key(group, topic, broker string, queue int32) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker, QueueID: queue}}
}

func act(set func(*offset.Act)) []Request {
	a := &offset.Act{ID: goldenAct, Base: 300, Cluster: goldenCluster}
	set(a)
	return []Request{{Principal: "admin", From: "192.0.2.7:50112", Act: a}}
}

// goldenEntries has an entry of every kind of request and act.
func goldenEntries() map[string][]Request {
	targets := []offset.Target{
		{Key: key("g1", "orders", "broker-a", 0), Offset: 100},
		{Key: key("g1", "orders", "broker-a", 1), Offset: 90},
		{Key: key("g1", "orders", "broker-b", 7), Offset: 1 << 40},
		{Key: key("g2", "orders", "", 0), Offset: 0},
	}
	return map[string][]Request{
		"empty": nil,
		"commits": {
			{Principal: "app", From: "192.0.2.1:40001", Commits: &offset.Commits{Cluster: goldenCluster, Topics: []offset.TopicCommits{
				{Group: "g1", Topic: "orders", Broker: "broker-a", Queues: []offset.QueueCommit{
					{QueueID: 0, Offset: 1_000_000, Epoch: 4}, {QueueID: 1, Offset: 1_000_017, Epoch: 4}, {QueueID: 3, Offset: 999_000, Epoch: 9},
				}},
				{Group: "g1", Topic: "%RETRY%g1", Broker: "broker-a", Queues: []offset.QueueCommit{{QueueID: 0, Offset: 5, Epoch: 4}}},
			}}},
			{Principal: "app", From: "192.0.2.1:40001", Commits: &offset.Commits{Cluster: goldenCluster, Atomic: true, Topics: []offset.TopicCommits{
				{Group: "g1", Topic: "orders", Broker: "", Queues: []offset.QueueCommit{{QueueID: 2, Offset: 1<<63 - 1, Epoch: 1<<64 - 1}}},
			}}},
			{Principal: "app", From: "192.0.2.2:40002", Commits: &offset.Commits{Cluster: otherCluster, Topics: []offset.TopicCommits{
				{Group: "g2", Topic: "orders", Broker: "broker-a", Queues: []offset.QueueCommit{{QueueID: 1<<31 - 1, Offset: 0, Epoch: 0}}},
			}}},
		},
		"set": {
			{Principal: "app", From: "192.0.2.1:40001", Set: &offset.Set{Key: key("g1", "orders", "broker-a", 3), Offset: 70, Cluster: goldenCluster, Epoch: 9, Exists: true, Replaces: 99}},
			{Principal: "admin", From: "192.0.2.7:50112", Set: &offset.Set{Key: key("g3", "orders", "", 0), Offset: 1, Cluster: otherCluster, Epoch: 12, Operator: true, Claim: 11}},
		},
		"reset": act(func(a *offset.Act) { a.Reset, a.Claim = &offset.Reset{Targets: targets}, 250 }),
		"remove": act(func(a *offset.Act) {
			a.Remove = &offset.Remove{Scope: offset.Scope{Group: "g1", Topic: "orders", HasBroker: true, Broker: "broker-a", HasQueue: true, QueueID: 3}}
		}),
		"clone": act(func(a *offset.Act) {
			a.Clone = &offset.Clone{From: "g1", To: "g4", Topic: "orders", HasBroker: true, Broker: "broker-b"}
		}),
		"expire": act(func(a *offset.Act) {
			a.Expire = &offset.Expire{Groups: []offset.Idle{{Group: "g1", Seen: 280}, {Group: "g2", Seen: 140}}}
		}),
		"claim": act(func(a *offset.Act) {
			a.Take = &offset.Take{ByBroker: true, Name: "broker-a", Holder: "DefaultCluster/store-1"}
		}),
		"import-begin": act(func(a *offset.Act) {
			a.Import = &offset.Import{Step: offset.ImportBegin, Mode: offset.ImportReplace, Group: "g1", Hash: [32]byte{0: 0xf0, 31: 0x0f}, Chunks: 3, Offsets: 25_000}
		}),
		"import-chunk": act(func(a *offset.Act) { a.Import = &offset.Import{Step: offset.ImportChunk, Chunk: 2, Targets: targets} }),
		"import-swap":  act(func(a *offset.Act) { a.Import = &offset.Import{Step: offset.ImportSwap} }),
		"import-abort": act(func(a *offset.Act) { a.Import = &offset.Import{Step: offset.ImportAbort} }),
		"members": {
			{Member: &offset.Member{ID: "n1/0a1b2c", API: "n1.example:7411", MaxLevel: 1}},
			{Forget: "n2/3d4e5f"},
			{Checkpoint: true},
		},
		"level": {{Principal: "admin", From: "192.0.2.7:50112", Level: 2}},
		"step": {{Principal: "admin", From: "192.0.2.7:50112", Step: 4, Act: &offset.Act{
			ID: goldenAct, Base: 300, Cluster: otherCluster, Remove: &offset.Remove{Scope: offset.Scope{Topic: "orders"}},
		}}},
	}
}

// TestGoldenEntries fails on any change of a byte that is written, and shows
// that what was written once is read as it was meant.
func TestGoldenEntries(t *testing.T) {
	for name, requests := range goldenEntries() {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder(goldenCluster, 1)
			for i := range requests {
				if err := b.Add(&requests[i]); err != nil {
					t.Fatal(err)
				}
			}
			data := b.Seal(1_764_442_800_123)
			file := filepath.Join("testdata", "level1", name+".entry")
			if *update {
				writeGolden(t, file, data)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, want) {
				t.Fatalf("the entry is\n%x\nand was, in %s,\n%x", data, file, want)
			}
			e, err := new(Decoder).Decode(want)
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Requests) != len(requests) || len(requests) > 0 && !reflect.DeepEqual(e.Requests, requests) {
				t.Fatalf("%s is read as\n%#v\nwanted\n%#v", file, e.Requests, requests)
			}
			if e.Cluster != goldenCluster || e.Time != 1_764_442_800_123 || e.Level != 1 {
				t.Fatalf("%s is read as of cluster %s, time %d, level %d", file, e.Cluster, e.Time, e.Level)
			}
		})
	}
}

func writeGolden(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestExampleInTheDocs: the entry taken apart in docs/formats.md is a real one.
func TestExampleInTheDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(doc), "### An example")
	if !ok {
		t.Fatal("docs/formats.md has no example")
	}
	var got []byte
	for _, line := range strings.Split(strings.Split(example, "```")[1], "\n") {
		for _, word := range strings.Fields(line) {
			b, err := hex.DecodeString(word)
			if err != nil || len(b) != 1 {
				break
			}
			got = append(got, b...)
		}
	}
	if want := golden(t, "members"); !bytes.Equal(got, want) {
		t.Errorf("the example is\n%x\nthe golden file\n%x", got, want)
	}
}

func TestGoldenFilesAreAllKnown(t *testing.T) {
	files, err := filepath.Glob("testdata/level1/*.entry")
	if err != nil || len(files) != len(goldenEntries()) {
		t.Fatalf("%d golden files, %v; %d are written by the test", len(files), err, len(goldenEntries()))
	}
}
