package incluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

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
	if err != nil {
		return offset.Verdict{}, meta, err
	}
	return verdicts[0], meta, nil
}

// Fetch reads one key through a member.
func (m *Member) Fetch(ctx context.Context, k offset.Key, at offset.ReadAt) (offset.KeyState, offset.Meta, error) {
	states, meta, err := m.Node().Fetch(ctx, Operator, &offset.Fetch{At: at, Keys: []offset.Key{k}})
	if err != nil {
		return offset.KeyState{}, meta, err
	}
	return states[0], meta, nil
}

// insist sends until it is told what has become of it, within ctx. Another leader
// may be elected at any time where the machine is busy, and what a request came to
// then be open; to send the same again is promised to be harmless.
func insist(ctx context.Context, send func() error) error {
	for {
		err := send()
		if !errors.Is(err, offset.ErrOutcomeUnknown) && !errors.Is(err, offset.ErrNoLeader) || ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond) // a member without a leader may refuse at once
	}
}

// MustCommit reads the key's epoch linearizably, commits, and fails the test
// unless that is acknowledged.
func (m *Member) MustCommit(k offset.Key, value int64) offset.Meta {
	m.cluster.TB.Helper()
	state, meta := m.mustFetch(k, offset.ReadAt{})
	topics, _ := offset.GroupCommits([]offset.Commit{{Key: k, Offset: value, Epoch: state.Epoch}})
	return m.MustSend(&offset.Commits{Cluster: meta.Cluster, Topics: topics})
}

// MustSend fails the test unless all that the request commits is acknowledged.
func (m *Member) MustSend(r *offset.Commits) (meta offset.Meta) {
	tb := m.cluster.TB
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	var verdicts []offset.Verdict
	err := insist(ctx, func() (err error) {
		verdicts, meta, err = m.Node().Commit(ctx, Operator, r)
		return err
	})
	for _, v := range verdicts {
		if err == nil {
			err = v.Code.Err()
		}
	}
	if err != nil {
		of := r.Topics[0]
		tb.Fatalf("committing %d for group %s, topic %s, queue %d and more through %s: %v", of.Queues[0].Offset, of.Group, of.Topic, of.Queues[0].QueueID, m.Name, err)
	}
	return meta
}

// mustFetch fails the test unless the key is read at that level.
func (m *Member) mustFetch(k offset.Key, at offset.ReadAt) (state offset.KeyState, meta offset.Meta) {
	tb := m.cluster.TB
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := insist(ctx, func() (err error) {
		state, meta, err = m.Fetch(ctx, k, at)
		return err
	})
	if err != nil {
		tb.Fatalf("reading %s %v from %s: %v", k, at.Level, m.Name, err)
	}
	return state, meta
}

// MustRead fails the test unless a read of the key at that level gives value;
// -1 means no offset.
func (m *Member) MustRead(k offset.Key, at offset.ReadAt, value int64) {
	m.cluster.TB.Helper()
	state, _ := m.mustFetch(k, at)
	if got := valueOf(state); got != value {
		m.cluster.TB.Fatalf("%s reads %s %v as %d, want %d", m.Name, k, at.Level, got, value)
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
	var page offset.Page
	err := insist(ctx, func() (err error) {
		page, err = m.Node().List(ctx, Operator, &offset.List{Limit: 1})
		return err
	})
	if err != nil {
		tb.Fatalf("reading a base from %s: %v", m.Name, err)
	}
	if a.ID.IsZero() {
		a.ID = NewActID()
	}
	a.Base, a.Cluster = page.Meta.Index, page.Meta.Cluster
	var result offset.ActResult
	err = insist(ctx, func() (err error) {
		result, _, err = m.Node().Act(ctx, Operator, a)
		return err
	})
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
	m.cluster.TB.Helper()
	_, meta := m.mustFetch(Key(group, 0), offset.ReadAt{})
	for from := 0; from < n; from += 1000 {
		t := offset.TopicCommits{Group: group, Topic: fmt.Sprintf("t%d", from), Broker: "b"}
		for q := range min(1000, n-from) {
			t.Queues = append(t.Queues, offset.QueueCommit{QueueID: int32(q), Offset: value})
		}
		m.MustSend(&offset.Commits{Cluster: meta.Cluster, Topics: []offset.TopicCommits{t}})
	}
}
