package table

import (
	"errors"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

var otherCluster = offset.ClusterID{8}

// refounded gives the table of another cluster that begins with what s has.
func (s *script) refounded() *script {
	s.Helper()
	s.Publish()
	t, err := s.Root().Refound(otherCluster, Stamp{s.at + 1, int64(s.at+1) * 1000})
	if err != nil {
		s.Fatal(err)
	}
	return &script{TB: s.TB, Table: t, at: s.at + 1}
}

// TestRefoundKeepsOffsetsAndMarks: and every epoch and floor is that of the index
// at which the new cluster begins; nothing else comes along.
func TestRefoundKeepsOffsetsAndMarks(t *testing.T) {
	p := newPlain(testCluster, 5)
	g := newGen(seedOf(t), p)
	tab := newTestTable(5)
	for range 200 {
		e := g.entry(func(op, answer) {})
		tab.Begin(e.index, e.ms)
		for _, o := range e.ops {
			applyOp(tab, o, nil)
		}
	}
	tab.Publish()
	old := tab.Root()
	at := Stamp{old.Index() + 1, old.Time()}
	made, err := old.Refound(otherCluster, at)
	if err != nil {
		t.Fatal(err)
	}
	now := made.Root()
	checkWhole(t, now)
	n := uint64(0)
	old.Walk(&offset.List{}, func(ks offset.KeyedState) bool {
		n++
		want := offset.Position{Offset: ks.Position.Offset, Pending: ks.Position.Pending, Index: at.Index, Epoch: at.Index, Time: at.Time}
		if got := now.Get(ks.Key); !got.Exists || got.Position != want || got.Epoch != at.Index || got.Claim != 0 {
			t.Fatalf("%s was %+v and is %+v", ks.Key, ks.KeyState, got)
		}
		return true
	})
	none := now.Get(qkey("nobody", "never", 1))
	if now.Queues() != n || none.Exists || none.Epoch != at.Index {
		t.Errorf("%d offsets of %d; what does not exist is %+v", now.Queues(), n, none)
	}
	if r := now.Rest(); r.Cluster != otherCluster || r.Index != at.Index || r.LastAct != at.Index || len(r.Acts)+len(r.Claims)+len(r.Members)+len(r.Floors) > 0 || r.Import != nil || r.Level != old.Level() {
		t.Errorf("beside the offsets it holds %+v", r)
	}
	if tab.Root().Digest() != old.Digest() || old.Digest() == now.Digest() {
		t.Error("the old state has changed, or passes for the new one")
	}
}

// TestRefoundFencesWhatWasSaidBefore: commits and acts of the old cluster, also
// if their sender took on the new id without a new read.
func TestRefoundFencesWhatWasSaidBefore(t *testing.T) {
	s := newScript(t)
	k, gone := qkey("g", "t", 0), qkey("g", "t", 1)
	s.wantCode("commit", s.commit(k, 5, 0).Code, offset.CodeOK)
	old := s.newAct(resetAct(1, k))
	n := s.refounded()
	n.wantOffset(k, 5)
	for _, cluster := range []offset.ClusterID{testCluster, otherCluster} {
		for _, key := range []offset.Key{k, gone} {
			n.begin()
			v := n.Commit(&offset.Commits{Cluster: cluster, Topics: []offset.TopicCommits{{
				Group: key.Group, Topic: key.Topic, Broker: key.Broker, Queues: []offset.QueueCommit{{QueueID: key.QueueID, Offset: 9}},
			}}}, nil)[0]
			n.wantCode("a commit of before", v.Code, offset.CodeFenced)
		}
		old.Cluster = cluster
		if r := n.send(old); r.Code == offset.CodeOK || r.Changed > 0 {
			t.Errorf("an act of before: %+v", r)
		}
	}
	n.wantOffset(k, 5)
	n.begin()
	st := n.get(k)
	v := n.Commit(&offset.Commits{Cluster: otherCluster, Topics: []offset.TopicCommits{{
		Group: k.Group, Topic: k.Topic, Broker: k.Broker, Queues: []offset.QueueCommit{{QueueID: k.QueueID, Offset: 9, Epoch: st.Epoch}},
	}}}, nil)[0]
	n.wantCode("a commit after a read", v.Code, offset.CodeOK)
	n.wantOffset(k, 9)
}

// TestRefoundIsBehindAll: neither an index nor the id of before.
func TestRefoundIsBehindAll(t *testing.T) {
	s := newScript(t)
	s.commit(qkey("g", "t", 0), 5, 0)
	s.Publish()
	for _, c := range []struct {
		cluster offset.ClusterID
		at      Stamp
	}{{otherCluster, Stamp{1, 1000}}, {otherCluster, Stamp{2, 999}}, {testCluster, Stamp{2, 1000}}} {
		if _, err := s.Root().Refound(c.cluster, c.at); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
