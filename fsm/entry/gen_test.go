package entry

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

var testCluster = offset.ClusterID{0: 0xc1, 15: 0x01}

// genName draws from few names, so that they are shared, of all sizes.
func genName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(0, 20), func(i int) string { return fmt.Sprintf("name-%d", i) }),
		rapid.SampledFrom([]string{"", "%RETRY%g", "ns%订单", "\x00\xff"}),
		rapid.StringN(0, -1, MaxString),
	)
}

// some makes n elements, nil for none, as a Decoder does.
func some[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

func genNumber() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64Range(0, 200), rapid.Uint64(), rapid.Just(uint64(math.MaxUint64)))
}

func genOffset() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Min(0), rapid.Just(int64(math.MaxInt64)))
}

func genQueue() *rapid.Generator[int32] {
	return rapid.OneOf(rapid.Int32Range(0, 16), rapid.Int32Min(0), rapid.Just(int32(math.MaxInt32)))
}

func genCluster() *rapid.Generator[offset.ClusterID] {
	return rapid.SampledFrom([]offset.ClusterID{testCluster, testCluster, {}, {1}})
}

func genKey(t *rapid.T) offset.Key {
	return offset.Key{Group: genName().Draw(t, "group"), MessageQueue: offset.MessageQueue{
		Topic: genName().Draw(t, "topic"), Broker: genName().Draw(t, "broker"), QueueID: genQueue().Draw(t, "queue"),
	}}
}

func genCommits(t *rapid.T) *offset.Commits {
	c := &offset.Commits{Cluster: genCluster().Draw(t, "cluster"), Atomic: rapid.Bool().Draw(t, "atomic")}
	c.Topics = some[offset.TopicCommits](rapid.IntRange(0, 4).Draw(t, "topics"))
	for i := range c.Topics {
		k := genKey(t)
		c.Topics[i] = offset.TopicCommits{Group: k.Group, Topic: k.Topic, Broker: k.Broker}
		queues := some[offset.QueueCommit](rapid.IntRange(0, 5).Draw(t, "queues"))
		for j := range queues {
			queues[j] = offset.QueueCommit{
				QueueID: genQueue().Draw(t, "id"), Offset: genOffset().Draw(t, "offset"), Epoch: genNumber().Draw(t, "epoch"),
			}
		}
		c.Topics[i].Queues = queues
	}
	return c
}

func genTargets(t *rapid.T) []offset.Target {
	list := some[offset.Target](rapid.IntRange(0, 6).Draw(t, "targets"))
	for i := range list {
		k := genKey(t)
		if i > 0 && rapid.Bool().Draw(t, "same topic") {
			k = list[i-1].Key
			k.QueueID = genQueue().Draw(t, "queue")
		}
		list[i] = offset.Target{Key: k, Offset: genOffset().Draw(t, "offset")}
	}
	return list
}

func genAct(t *rapid.T) *offset.Act {
	a := &offset.Act{ID: offset.ActID{7, 8}, Base: genNumber().Draw(t, "base"), Cluster: genCluster().Draw(t, "cluster"), Claim: genNumber().Draw(t, "claim")}
	k := genKey(t)
	switch rapid.IntRange(0, 5).Draw(t, "act") {
	case 0:
		a.Reset = &offset.Reset{Targets: genTargets(t)}
	case 1:
		a.Remove = &offset.Remove{Scope: offset.Scope{
			Group: k.Group, Topic: k.Topic, Broker: k.Broker, QueueID: k.QueueID,
			HasBroker: rapid.Bool().Draw(t, "has broker"), HasQueue: rapid.Bool().Draw(t, "has queue"),
		}}
	case 2:
		a.Clone = &offset.Clone{From: k.Group, To: genName().Draw(t, "to"), Topic: k.Topic, Broker: k.Broker, HasBroker: rapid.Bool().Draw(t, "has broker")}
	case 3:
		a.Expire = &offset.Expire{Groups: some[offset.Idle](rapid.IntRange(0, 4).Draw(t, "groups"))}
		for i := range a.Expire.Groups {
			a.Expire.Groups[i] = offset.Idle{Group: genName().Draw(t, "group"), Seen: genNumber().Draw(t, "seen")}
		}
	case 4:
		a.Take = &offset.Take{ByBroker: rapid.Bool().Draw(t, "by broker"), Name: k.Broker, Holder: k.Group}
	case 5:
		a.Import = &offset.Import{
			Step: offset.ImportStep(rapid.IntRange(0, 3).Draw(t, "step")), Mode: offset.ImportMode(rapid.IntRange(0, 1).Draw(t, "mode")),
			Group: k.Group, Chunks: rapid.Uint32().Draw(t, "chunks"), Offsets: genNumber().Draw(t, "offsets"),
			Chunk: rapid.Uint32().Draw(t, "chunk"), Targets: genTargets(t),
		}
		if rapid.Bool().Draw(t, "hash") {
			a.Import.Hash = [32]byte{31: 9}
		}
	}
	return a
}

// genRequest draws any request that a Builder takes.
func genRequest(t *rapid.T) Request {
	r := Request{Principal: genName().Draw(t, "principal"), From: genName().Draw(t, "from")}
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0, 1, 2:
		r.Commits = genCommits(t)
	case 3:
		r.Set = &offset.Set{
			Key: genKey(t), Offset: genOffset().Draw(t, "offset"), Cluster: genCluster().Draw(t, "cluster"),
			Epoch: genNumber().Draw(t, "epoch"), Exists: rapid.Bool().Draw(t, "exists"), Replaces: genOffset().Draw(t, "replaces"),
			Operator: rapid.Bool().Draw(t, "operator"), Claim: genNumber().Draw(t, "claim"),
		}
	case 4:
		r.Act, r.Step = genAct(t), rapid.Uint32().Draw(t, "step")
	case 5:
		r.Member = &offset.Member{ID: "n1/" + rapid.StringN(0, 20, -1).Draw(t, "id"), API: genName().Draw(t, "api"), MaxLevel: rapid.Byte().Draw(t, "max")}
	case 6:
		r.Forget = "n2/abc"
	case 7:
		r.Level = rapid.ByteMin(1).Draw(t, "level")
	case 8:
		r.Checkpoint = true
	}
	return r
}
