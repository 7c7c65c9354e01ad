package table

import (
	"reflect"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// script drives a table by hand, one request an entry.
type script struct {
	testing.TB
	*Table
	at     uint64
	issued uint16
}

func newScript(tb testing.TB) *script { return &script{TB: tb, Table: New(testCluster)} }

func qkey(group, topic string, queue int32) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: "b", QueueID: queue}}
}

// begin opens the next entry.
func (s *script) begin() uint64 {
	s.at++
	s.Begin(s.at, int64(s.at)*1000)
	return s.at
}

// get reads what is published after all so far.
func (s *script) get(k offset.Key) offset.KeyState {
	s.Publish()
	return s.Root().Get(k)
}

// commit sends one commit in an entry of its own.
func (s *script) commit(k offset.Key, off int64, epoch uint64) offset.Verdict {
	s.begin()
	return s.commitHere(k, off, epoch)
}

func (s *script) commitHere(k offset.Key, off int64, epoch uint64) offset.Verdict {
	return s.Commit(&offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{{
		Group: k.Group, Topic: k.Topic, Broker: k.Broker, Queues: []offset.QueueCommit{{QueueID: k.QueueID, Offset: off, Epoch: epoch}},
	}}}, nil)[0]
}

// newAct draws an id and a base for an act, as its issuer would now.
func (s *script) newAct(a offset.Act) *offset.Act {
	s.issued++
	a.ID, a.Base, a.Cluster = offset.ActID{200, byte(s.issued), byte(s.issued >> 8)}, s.at, testCluster
	return &a
}

// send applies an act in an entry of its own, to its end.
func (s *script) send(a *offset.Act) offset.ActResult {
	s.begin()
	res := s.Act(a, 0, nil)
	for a.Import == nil && !res.Done {
		s.begin()
		res = s.Act(a, res.Next, nil)
	}
	return res
}

func (s *script) do(a offset.Act) offset.ActResult { return s.send(s.newAct(a)) }

func (s *script) set(x offset.Set) offset.Verdict {
	s.begin()
	x.Cluster = testCluster
	return s.Set(&x, nil)
}

func (s *script) want(what string, got, want any) {
	s.Helper()
	if !reflect.DeepEqual(got, want) {
		s.Fatalf("%s: %+v, want %+v", what, got, want)
	}
}

func (s *script) wantCode(what string, got, want offset.Code) {
	s.Helper()
	if got != want {
		s.Fatalf("%s: code %d, want %d", what, got, want)
	}
}

// wantOffset reads a key.
func (s *script) wantOffset(k offset.Key, off int64) offset.KeyState {
	s.Helper()
	st := s.get(k)
	if !st.Exists || st.Position.Offset != off {
		s.Fatalf("%s is %+v, want offset %d", k, st, off)
	}
	return st
}

func (s *script) wantNone(k offset.Key) offset.KeyState {
	s.Helper()
	st := s.get(k)
	if st.Exists {
		s.Fatalf("%s is %+v, want none", k, st)
	}
	return st
}

func resetAct(off int64, keys ...offset.Key) offset.Act {
	r := &offset.Reset{}
	for _, k := range keys {
		r.Targets = append(r.Targets, offset.Target{Key: k, Offset: off})
	}
	return offset.Act{Reset: r}
}

func removeAct(sc offset.Scope) offset.Act { return offset.Act{Remove: &offset.Remove{Scope: sc}} }

func takeAct(byBroker bool, name string) offset.Act {
	return offset.Act{Take: &offset.Take{ByBroker: byBroker, Name: name, Holder: "someone"}}
}
