package wire

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

// Generators of values that the API can carry.

var (
	genName     = rapid.StringMatching(`[a-z%_]{1,8}|%RETRY%[a-z]{1,4}|组一`)
	genMaybe    = rapid.OneOf(genName, rapid.Just(""))
	genQueue    = rapid.Int32Range(0, math.MaxInt32)
	genOffset   = rapid.OneOf(rapid.Int64Range(0, 99), rapid.Just(int64(math.MaxInt64)))
	genIndex    = rapid.OneOf(rapid.Uint64Range(0, 99), rapid.Just(uint64(math.MaxUint64)))
	genAddr     = rapid.StringMatching(`([a-z]{1,5}:[1-9][0-9]{0,3})?`)
	genMemberID = rapid.StringMatching(`[a-z]{1,5}/[0-9a-f]{32}`)
	genAge      = rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "ms")) * time.Millisecond
	})
	genKey = rapid.Custom(func(t *rapid.T) offset.Key {
		return offset.Key{Group: genName.Draw(t, "group"), MessageQueue: offset.MessageQueue{
			Topic: genName.Draw(t, "topic"), Broker: genMaybe.Draw(t, "broker"), QueueID: genQueue.Draw(t, "queue")}}
	})
	genCluster = rapid.Custom(func(t *rapid.T) (c offset.ClusterID) {
		copy(c[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "cluster"))
		return c
	})
	genState = rapid.Custom(func(t *rapid.T) (s offset.KeyState) {
		s.Exists, s.Epoch, s.Claim = rapid.Bool().Draw(t, "exists"), genIndex.Draw(t, "epoch"), genIndex.Draw(t, "claim")
		s.Position.Epoch = genIndex.Draw(t, "own epoch")
		if s.Exists {
			s.Position = offset.Position{Offset: genOffset.Draw(t, "offset"), Index: genIndex.Draw(t, "index"), Epoch: s.Position.Epoch,
				Time: rapid.Int64().Draw(t, "time"), Pending: rapid.Bool().Draw(t, "pending")}
		}
		return s
	})
	genMeta = rapid.Custom(func(t *rapid.T) offset.Meta {
		return offset.Meta{Cluster: genCluster.Draw(t, "cluster"), Index: genIndex.Draw(t, "index"), LastAct: genIndex.Draw(t, "act"),
			Leader: genAddr.Draw(t, "leader"), Age: genAge.Draw(t, "age")}
	})
	genCommits = rapid.Custom(func(t *rapid.T) *offset.Commits {
		c := &offset.Commits{Cluster: genCluster.Draw(t, "cluster"), Atomic: rapid.Bool().Draw(t, "atomic")}
		queues := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) offset.QueueCommit {
			return offset.QueueCommit{QueueID: genQueue.Draw(t, "queue"), Offset: genOffset.Draw(t, "offset"), Epoch: rapid.Uint64Range(0, 2).Draw(t, "epoch")}
		}), 1, 4)
		c.Topics = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) offset.TopicCommits {
			return offset.TopicCommits{Group: genName.Draw(t, "group"), Topic: genName.Draw(t, "topic"), Broker: genMaybe.Draw(t, "broker"), Queues: queues.Draw(t, "queues")}
		}), 1, 4).Draw(t, "topics")
		return c
	})
	// Also an index that the level does not look at: who refuses it must see it.
	genReadAt = rapid.Custom(func(t *rapid.T) offset.ReadAt {
		return offset.ReadAt{Level: offset.Level(rapid.IntRange(0, 2).Draw(t, "level")), Index: genIndex.Draw(t, "index")}
	})
	genKeyed = rapid.Custom(func(t *rapid.T) offset.KeyedState {
		return offset.KeyedState{Key: genKey.Draw(t, "key"), KeyState: genState.Draw(t, "state")}
	})
	genTargets = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) offset.Target {
		return offset.Target{Key: genKey.Draw(t, "key"), Offset: genOffset.Draw(t, "offset")}
	}), 1, 3)
)

// genBroker draws a broker filter.
func genBroker(t *rapid.T) (has bool, broker string) {
	if has = rapid.Bool().Draw(t, "has broker"); has {
		broker = genMaybe.Draw(t, "broker")
	}
	return has, broker
}

// genAct draws an act of kind i.
func genAct(t *rapid.T, i int) *offset.Act {
	a := &offset.Act{Base: genIndex.Draw(t, "base"), Cluster: genCluster.Draw(t, "cluster"), Claim: genIndex.Draw(t, "claim")}
	a.ID[3] = 1
	switch i {
	case 0:
		a.Reset = &offset.Reset{Targets: genTargets.Draw(t, "targets")}
	case 1:
		s := offset.Scope{Group: genMaybe.Draw(t, "group"), Topic: genMaybe.Draw(t, "topic")}
		s.HasBroker, s.Broker = genBroker(t)
		if s.HasQueue = rapid.Bool().Draw(t, "has queue"); s.HasQueue {
			s.QueueID = genQueue.Draw(t, "queue")
		}
		a.Remove = &offset.Remove{Scope: s}
	case 2:
		c := &offset.Clone{From: genName.Draw(t, "from"), To: genName.Draw(t, "to"), Topic: genMaybe.Draw(t, "topic")}
		c.HasBroker, c.Broker = genBroker(t)
		a.Clone = c
	case 3:
		a.Expire = &offset.Expire{Groups: []offset.Idle{{Group: genName.Draw(t, "group"), Seen: genIndex.Draw(t, "seen")}}}
	case 4:
		a.Take = &offset.Take{ByBroker: rapid.Bool().Draw(t, "by broker"), Name: genMaybe.Draw(t, "name"), Holder: genName.Draw(t, "holder")}
	case 5:
		m := &offset.Import{Step: offset.ImportStep(rapid.IntRange(0, 3).Draw(t, "step")), Mode: offset.ImportMode(rapid.IntRange(0, 1).Draw(t, "mode")),
			Group: genMaybe.Draw(t, "group"), Chunks: 4, Offsets: genIndex.Draw(t, "offsets"), Chunk: 3}
		m.Hash[31] = rapid.Byte().Draw(t, "hash")
		if m.Step == offset.ImportChunk {
			m.Targets = genTargets.Draw(t, "targets")
		}
		a.Import = m
	default:
		panic(fmt.Sprint("no act of kind ", i))
	}
	return a
}
