package wire

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// over sends a message over the wire.
func over[M proto.Message](t *rapid.T, m M) M {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// same fails unless what came is what was sent.
func same(t *rapid.T, got, want any, err error) {
	if err != nil {
		t.Fatalf("%v\nof %+v", err, want)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("\n got %+v\nwant %+v", got, want)
	}
}

func TestRoundTripCommits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := genCommits.Draw(t, "commits")
		m := over(t, ToCommitRequest(c, 7))
		got, err := FromCommitRequest(m)
		same(t, got, c, err)
		if m.TimeoutMs != 7 {
			t.Fatalf("timeout %d", m.TimeoutMs)
		}

		verdicts := make([]offset.Verdict, c.Count())
		for i := range verdicts {
			switch rapid.IntRange(0, 4).Draw(t, "verdict") {
			case 0:
				verdicts[i] = offset.Verdict{Code: offset.CodeFenced, State: genState.Draw(t, "state")}
			case 1:
				verdicts[i] = offset.Verdict{Code: offset.CodeNotApplied, State: genState.Draw(t, "state")}
			default:
				verdicts[i].State = offset.KeyState{Exists: true, Position: offset.Position{Offset: genOffset.Draw(t, "offset")}}
			}
		}
		meta := genMeta.Draw(t, "meta")
		gotVerdicts, gotMeta, err := FromCommitResponse(over(t, ToCommitResponse(c, verdicts, ToMeta(meta))), c.Count())
		same(t, gotVerdicts, verdicts, err)
		same(t, gotMeta, meta, err)
	})
}

func TestRoundTripSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &offset.Set{Key: genKey.Draw(t, "key"), Offset: genOffset.Draw(t, "offset"), Cluster: genCluster.Draw(t, "cluster"), Epoch: genIndex.Draw(t, "epoch"),
			Exists: rapid.Bool().Draw(t, "exists"), Replaces: genOffset.Draw(t, "replaces"), Operator: rapid.Bool().Draw(t, "operator"), Claim: genIndex.Draw(t, "claim")}
		got, err := FromSetRequest(over(t, ToSetRequest(s, 0)))
		same(t, got, s, err)
		v := offset.Verdict{Code: rapid.SampledFrom([]offset.Code{offset.CodeOK, offset.CodeFenced}).Draw(t, "code"), State: genState.Draw(t, "state")}
		meta := genMeta.Draw(t, "meta")
		gotV, gotMeta, err := FromSetResponse(over(t, ToSetResponse(s.Key, v, meta)))
		same(t, gotV, v, err)
		same(t, gotMeta, meta, err)
	})
}

func TestRoundTripReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &offset.Fetch{At: genReadAt.Draw(t, "at"), Keys: rapid.SliceOfN(genKey, 1, 4).Draw(t, "keys")}
		got, err := FromFetchRequest(over(t, ToFetchRequest(f, 0)))
		same(t, got, f, err)
		states := rapid.SliceOfN(genState, len(f.Keys), len(f.Keys)).Draw(t, "states")
		meta := genMeta.Draw(t, "meta")
		gotStates, gotMeta, err := FromFetchResponse(over(t, ToFetchResponse(f.Keys, states, ToMeta(meta))), len(f.Keys))
		same(t, gotStates, states, err)
		same(t, gotMeta, meta, err)

		l := &offset.List{At: f.At, What: offset.ListKind(rapid.IntRange(0, 2).Draw(t, "what")), Group: genMaybe.Draw(t, "group"), Topic: genMaybe.Draw(t, "topic"),
			Prefix: genMaybe.Draw(t, "prefix"), NewerThan: genIndex.Draw(t, "newer"), Pending: rapid.Bool().Draw(t, "pending"), Limit: rapid.IntRange(0, offset.MaxPage).Draw(t, "limit")}
		l.HasBroker, l.Broker = genBroker(t)
		if rapid.Bool().Draw(t, "after") {
			l.After = &f.Keys[0]
		}
		gotList, err := FromListRequest(over(t, ToListRequest(l, 0)))
		same(t, gotList, l, err)
		x := &offset.List{At: l.At, What: offset.ListKeys, Group: l.Group, Topic: l.Topic, HasBroker: l.HasBroker, Broker: l.Broker}
		gotExport, err := FromExportRequest(over(t, ToExportRequest(x, 0)))
		same(t, gotExport, x, err)
	})
}

func TestRoundTripPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := offset.Page{Meta: genMeta.Draw(t, "meta"), More: rapid.Bool().Draw(t, "more")}
		if rapid.Bool().Draw(t, "names") {
			p.Names = rapid.SliceOfN(genName, 1, 4).Draw(t, "names")
		} else {
			p.Keys = rapid.SliceOfN(genKeyed, 1, 4).Draw(t, "keys")
		}
		got, err := FromListResponse(over(t, ToListResponse(p)))
		same(t, got, p, err)

		p.Names, p.More = nil, true
		m := ToExportResponse(p)
		got, _, last, err := FromExportResponse(over(t, m))
		same(t, got, p, err)
		if last {
			t.Fatal("a message without its total counts as the last")
		}
		m.Total = proto.Uint64(7)
		p.More = false
		got, total, last, err := FromExportResponse(over(t, m))
		same(t, got, p, err)
		if total != 7 || !last {
			t.Fatalf("total %d, last %t", total, last)
		}
	})
}

func TestRoundTripActs(t *testing.T) {
	send := []func(t *rapid.T, a *offset.Act) (*offset.Act, error){
		func(t *rapid.T, a *offset.Act) (*offset.Act, error) {
			return FromResetRequest(over(t, ToResetRequest(a, 0)))
		},
		func(t *rapid.T, a *offset.Act) (*offset.Act, error) {
			return FromRemoveRequest(over(t, ToRemoveRequest(a, 0)))
		},
		func(t *rapid.T, a *offset.Act) (*offset.Act, error) {
			return FromCloneRequest(over(t, ToCloneRequest(a, 0)))
		},
		func(t *rapid.T, a *offset.Act) (*offset.Act, error) {
			return FromExpireRequest(over(t, ToExpireRequest(a, 0)))
		},
		func(t *rapid.T, a *offset.Act) (*offset.Act, error) {
			return FromClaimRequest(over(t, ToClaimRequest(a, 0)))
		},
		func(t *rapid.T, a *offset.Act) (*offset.Act, error) {
			return FromImportRequest(over(t, ToImportRequest(a, 0)))
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(send)-1).Draw(t, "kind")
		a := genAct(t, i)
		got, err := send[i](t, a)
		same(t, got, a, err)

		r := offset.ActResult{Code: offset.Code(rapid.IntRange(0, int(offset.CodeUnreachable)).Draw(t, "code")), Index: genIndex.Draw(t, "index"), Done: rapid.Bool().Draw(t, "done"),
			Next: 3, Changed: genIndex.Draw(t, "changed"), Kept: genIndex.Draw(t, "kept"), Names: rapid.SliceOfN(genKey, 1, 3).Draw(t, "names")}
		meta := genMeta.Draw(t, "meta")
		gotR, gotMeta, err := FromActResponse(over(t, ToActResponse(r, meta)))
		same(t, gotR, r, err)
		same(t, gotMeta, meta, err)
	})
}

func TestRoundTripStatus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := offset.Status{
			Meta: genMeta.Draw(t, "meta"), NodeID: genMemberID.Draw(t, "id"), State: "leader", Term: genIndex.Draw(t, "term"), CommitIndex: 3, LastIndex: 4, SnapshotIndex: 5,
			Level: 1, MaxLevel: 255, Digest: offset.Digest{1}, DigestIndex: 6, Groups: 7, Queues: 8, NotReady: rapid.SampledFrom([]string{"", "starting"}).Draw(t, "ready"), Version: "v1",
		}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			m := offset.MemberStatus{Member: offset.Member{ID: genMemberID.Draw(t, "id"), API: genAddr.Draw(t, "api"), MaxLevel: 2}, Peer: genAddr.Draw(t, "peer"),
				Voter: rapid.Bool().Draw(t, "voter"), Leader: rapid.Bool().Draw(t, "leader"), Match: rapid.Int64Range(-1, 9).Draw(t, "match"), ContactAge: -1}
			if rapid.Bool().Draw(t, "heard") {
				m.ContactAge = genAge.Draw(t, "age")
			}
			s.Members = append(s.Members, m)
		}
		if rapid.Bool().Draw(t, "vitals") {
			s.Vitals = offset.Vitals{Clock: 1_700_000_000_000, Lease: 300 * time.Millisecond, DiskFree: 1 << 40, DiskTotal: 1 << 41, DiskNeeded: 1 << 39, DiskWrites: 9,
				DiskTime: rapid.Custom(func(t *rapid.T) time.Duration {
					return time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "us")) * time.Microsecond
				}).Draw(t, "time"), DiskLongest: 5 * time.Microsecond, Commits: 1 << 50, Entries: 1 << 40,
				Stages: offset.Stages{Queue: 1 * time.Microsecond, Log: 2 * time.Microsecond, Quorum: 3 * time.Microsecond, Handover: 4 * time.Microsecond, Apply: 5 * time.Microsecond}}
		}
		if rapid.Bool().Draw(t, "import") {
			s.Import = &offset.ImportStatus{ID: offset.ActID{1}, Mode: offset.ImportReplace, Group: "g", Hash: [32]byte{4}, Chunks: 9, Offsets: 10, Next: 3}
		}
		got, err := FromStatusResponse(over(t, ToStatusResponse(s)))
		same(t, got, s, err)
	})
}

func TestEpochsOfOneTopicTravelOnce(t *testing.T) {
	c := &offset.Commits{Cluster: offset.ClusterID{1}, Topics: []offset.TopicCommits{
		{Group: "g", Topic: "same", Queues: []offset.QueueCommit{{Epoch: 5}, {QueueID: 1, Epoch: 5}}},
		{Group: "g", Topic: "differ", Queues: []offset.QueueCommit{{Epoch: 5}, {QueueID: 1, Epoch: 6}}},
	}}
	m := ToCommitRequest(c, 0)
	if got := [][]uint64{m.Commits[0].Epochs, m.Commits[1].Epochs}; !reflect.DeepEqual(got, [][]uint64{{5}, {5, 6}}) {
		t.Errorf("epochs %v", got)
	}
}

func commitsOf(topics, queues int) *offset.Commits {
	c := &offset.Commits{Cluster: offset.ClusterID{1}}
	for range topics {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: "group", Topic: "topic", Broker: "broker", Queues: make([]offset.QueueCommit, queues)})
	}
	return c
}

// The way of a commit allocates per request, not per commit or topic.
func TestCommitPathAllocations(t *testing.T) {
	c := commitsOf(100, 16)
	m := ToCommitRequest(c, 0)
	verdicts := make([]offset.Verdict, c.Count())
	for name, tt := range map[string]struct {
		most float64
		f    func()
	}{
		"FromCommitRequest":  {4, func() { FromCommitRequest(m) }},
		"ToCommitResponse":   {5, func() { ToCommitResponse(c, verdicts, ToMeta(offset.Meta{Cluster: c.Cluster})) }},
		"FromCommitResponse": {2, func() { FromCommitResponse(&tidemarkv1.CommitResponse{Offsets: make([]int64, 1600)}, 1600) }},
	} {
		if got := testing.AllocsPerRun(100, tt.f); got > tt.most {
			t.Errorf("%s makes %v allocations for 1,600 commits; at most %v", name, got, tt.most)
		}
	}
}

func BenchmarkFromCommitRequest(b *testing.B) {
	m := ToCommitRequest(commitsOf(100, 16), 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromCommitRequest(m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1600, "ns/commit")
}
