package offset

import "cmp"

// Commit is what a consumer says of one key (rule Advance): its epoch must be
// the one the key has; then the larger offset stays.
type Commit struct {
	Key Key
	// Offset is the next message to consume, 0 or more.
	Offset int64
	// Epoch is the one that its sender read (KeyState.Epoch).
	Epoch uint64
}

// Commits is one request of up to MaxCommits commits. Each has a verdict of
// its own, in the order of Topics and, within, of Queues.
type Commits struct {
	// Cluster is the cluster that the epochs were read from. Required.
	Cluster ClusterID
	// Atomic: if one commit is fenced, none is applied, and each verdict says so.
	Atomic bool
	// Topics holds the commits. A topic may occur more than once.
	Topics []TopicCommits
}

// TopicCommits are the commits of one group on one topic of one broker.
type TopicCommits struct {
	Group, Topic, Broker string
	Queues               []QueueCommit
}

// QueueCommit is the part of a Commit that differs between queues.
type QueueCommit struct {
	QueueID int32
	Offset  int64
	Epoch   uint64
}

// Count returns the number of commits in the request.
func (c *Commits) Count() int {
	n := 0
	for i := range c.Topics {
		n += len(c.Topics[i].Queues)
	}
	return n
}

// Validate checks the request against the limits; the error wraps ErrInvalid
// and names the first fault.
func (c *Commits) Validate() error {
	if c.Cluster.IsZero() {
		return Errorf(ErrInvalid, "the cluster id is missing; a commit carries the epoch and the cluster id that its sender read")
	}
	switch n := c.Count(); {
	case n == 0:
		return Errorf(ErrInvalid, "the request holds no commit")
	case n > MaxCommits:
		return Errorf(ErrInvalid, "%d commits in one request; at most %d are allowed", n, MaxCommits)
	}
	for i := range c.Topics {
		if err := c.Topics[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

func (t *TopicCommits) validate() error {
	k := Key{Group: t.Group, MessageQueue: MessageQueue{Topic: t.Topic, Broker: t.Broker}}
	for _, q := range t.Queues {
		k.QueueID = q.QueueID
		if q.Offset < 0 {
			return Errorf(ErrInvalid, "offset %d of %s is negative", q.Offset, k)
		}
		if q.QueueID < 0 {
			return Errorf(ErrInvalid, "queue id %d of %s is negative", q.QueueID, k)
		}
	}
	return k.Validate()
}

// GroupCommits brings commits into the form of a request, topics in the order
// of their first appearance. order[i] is the index in list of the i-th commit
// of the request, and so of the i-th verdict.
func GroupCommits(list []Commit) (topics []TopicCommits, order []int) {
	type name struct{ group, topic, broker string }
	at := make(map[name]int, 8)
	members := make([][]int, 0, 8)
	for i := range list {
		k := &list[i].Key
		n := name{k.Group, k.Topic, k.Broker}
		t, ok := at[n]
		if !ok {
			t = len(topics)
			at[n] = t
			topics = append(topics, TopicCommits{Group: k.Group, Topic: k.Topic, Broker: k.Broker})
			members = append(members, nil)
		}
		topics[t].Queues = append(topics[t].Queues, QueueCommit{QueueID: k.QueueID, Offset: list[i].Offset, Epoch: list[i].Epoch})
		members[t] = append(members[t], i)
	}
	order = make([]int, 0, len(list))
	for _, m := range members {
		order = append(order, m...)
	}
	return topics, order
}

// Verdict is what Apply decided on one commit or one Set.
type Verdict struct {
	// Code is CodeOK, CodeFenced, or CodeNotApplied (another commit of the
	// same atomic set was fenced).
	Code Code
	// State is the key as it is after.
	State KeyState
}

// Set lowers or raises one key on purpose: compare-and-set on epoch, offset
// (or its absence) and cluster of the position it replaces. It moves the epoch
// of that key alone.
type Set struct {
	Key    Key
	Offset int64
	// Cluster is the cluster that the rest was read from. Required.
	Cluster ClusterID
	// Epoch is the epoch of what is replaced: KeyState.Epoch for a consumer,
	// Position.Epoch (the key's own) for an operator.
	Epoch uint64
	// Exists reports whether the key had an offset, and Replaces which.
	Exists   bool
	Replaces int64
	// Operator: an operator's set; the position becomes pending. Otherwise it
	// is a consumer's own, and the mark stays as it is.
	Operator bool
	// Claim is the claim of the holder that an operator's Set comes through; 0 for none.
	Claim uint64
}

// Validate checks the Set against the limits; the error wraps ErrInvalid.
func (s *Set) Validate() error {
	if s.Cluster.IsZero() {
		return Errorf(ErrInvalid, "the cluster id is missing; a set carries the position that it replaces")
	}
	if s.Offset < 0 || s.Replaces < 0 {
		return Errorf(ErrInvalid, "offset %d of %s is negative", min(s.Offset, s.Replaces), s.Key)
	}
	return s.Key.Validate()
}

// Target is a key and the offset it shall have.
type Target struct {
	Key    Key
	Offset int64
}

// Compare orders targets by key.
func (t Target) Compare(o Target) int {
	return cmp.Or(t.Key.Compare(o.Key), cmp.Compare(t.Offset, o.Offset))
}
