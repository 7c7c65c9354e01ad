package incluster

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// Key is the key of group, topic "t", broker "b" and a queue.
func Key(group string, queue int32) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b", QueueID: queue}}
}

// Commit sends one commit through a member, with the epoch and cluster that
// the caller read.
func (m *Member) Commit(ctx context.Context, k offset.Key, value int64, epoch uint64, cluster offset.ClusterID) (offset.Verdict, offset.Meta, error) {
	topics, _ := offset.GroupCommits([]offset.Commit{{Key: k, Offset: value, Epoch: epoch}})
	verdicts, meta, err := m.Node().Commit(ctx, Operator, &offset.Commits{Cluster: cluster, Topics: topics})
	if err != nil || len(verdicts) != 1 {
		return offset.Verdict{}, meta, err
	}
	return verdicts[0], meta, nil
}

// Fetch reads one key through a member.
func (m *Member) Fetch(ctx context.Context, k offset.Key, at offset.ReadAt) (offset.KeyState, offset.Meta, error) {
	states, meta, err := m.Node().Fetch(ctx, Operator, &offset.Fetch{At: at, Keys: []offset.Key{k}})
	if err != nil || len(states) != 1 {
		return offset.KeyState{}, meta, err
	}
	return states[0], meta, nil
}

// MustCommit reads the key's epoch linearizably, commits, and fails the test
// unless that is acknowledged.
func (m *Member) MustCommit(k offset.Key, value int64) offset.Meta {
	tb := m.cluster.TB
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	state, meta, err := m.Fetch(ctx, k, offset.ReadAt{})
	if err != nil {
		tb.Fatalf("fetching %s from %s: %v", k, m.Name, err)
	}
	verdict, meta, err := m.Commit(ctx, k, value, state.Epoch, meta.Cluster)
	if err == nil {
		err = verdict.Code.Err()
	}
	if err != nil {
		tb.Fatalf("committing %d for %s to %s: %v", value, k, m.Name, err)
	}
	return meta
}

// MustRead fails the test unless a read of the key at that level gives value;
// -1 means no offset.
func (m *Member) MustRead(k offset.Key, at offset.ReadAt, value int64) {
	tb := m.cluster.TB
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	state, _, err := m.Fetch(ctx, k, at)
	if err != nil {
		tb.Fatalf("reading %s %v from %s: %v", k, at.Level, m.Name, err)
	}
	if got := valueOf(state); got != value {
		tb.Fatalf("%s reads %s %v as %d, want %d", m.Name, k, at.Level, got, value)
	}
}

func valueOf(s offset.KeyState) int64 {
	if !s.Exists {
		return -1
	}
	return s.Position.Offset
}

// NewActID draws an id.
func NewActID() (id offset.ActID) {
	rand.Read(id[:]) // never fails
	return id
}

// MustAct does an act through a member with a base read just before, and fails
// the test unless its code is OK.
func (m *Member) MustAct(a *offset.Act) offset.ActResult {
	tb := m.cluster.TB
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	page, err := m.Node().List(ctx, Operator, &offset.List{Limit: 1})
	if err != nil {
		tb.Fatalf("reading a base from %s: %v", m.Name, err)
	}
	if a.ID.IsZero() {
		a.ID = NewActID()
	}
	a.Base, a.Cluster = page.Meta.Index, page.Meta.Cluster
	result, _, err := m.Node().Act(ctx, Operator, a)
	if err == nil {
		err = result.Code.Err()
	}
	if err != nil {
		tb.Fatalf("act through %s: %v", m.Name, err)
	}
	return result
}

// Fill commits n keys of one group, in requests of at most 1,000.
func (m *Member) Fill(group string, n int, value int64) {
	tb := m.cluster.TB
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_, meta, err := m.Fetch(ctx, Key(group, 0), offset.ReadAt{})
	if err != nil {
		tb.Fatalf("reading the cluster id from %s: %v", m.Name, err)
	}
	for from := 0; from < n; from += 1000 {
		t := offset.TopicCommits{Group: group, Topic: fmt.Sprintf("t%d", from), Broker: "b"}
		for q := range min(1000, n-from) {
			t.Queues = append(t.Queues, offset.QueueCommit{QueueID: int32(q), Offset: value})
		}
		verdicts, _, err := m.Node().Commit(ctx, Operator, &offset.Commits{Cluster: meta.Cluster, Topics: []offset.TopicCommits{t}})
		if err != nil {
			tb.Fatalf("filling through %s: %v", m.Name, err)
		}
		for _, v := range verdicts {
			if v.Code != offset.CodeOK {
				tb.Fatalf("filling through %s: %v", m.Name, v.Code.Err())
			}
		}
	}
}
