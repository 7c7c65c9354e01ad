package wire

import (
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// commitSlab is what a request of one commit needs, allocated together; a
// larger one brings its own slices.
type commitSlab struct {
	call     tidemarkv1.Call
	kind     tidemarkv1.Call_Commit
	request  tidemarkv1.CommitRequest
	topics   [1]tidemarkv1.TopicCommits
	list     [1]*tidemarkv1.TopicCommits
	queueIDs [1]int32
	offsets  [1]int64
	epochs   [1]uint64
}

// ToCommitCall makes c a call of a stream. timeoutMS is ToTimeout's.
func ToCommitCall(c *offset.Commits, timeoutMS uint32) *tidemarkv1.Call {
	s := new(commitSlab)
	s.kind.Commit = s.fill(c, timeoutMS)
	s.call.Call = &s.kind
	return &s.call
}

// ToCommitRequest makes the API's form of c. timeoutMS is ToTimeout's.
func ToCommitRequest(c *offset.Commits, timeoutMS uint32) *tidemarkv1.CommitRequest {
	return new(commitSlab).fill(c, timeoutMS)
}

func (s *commitSlab) fill(c *offset.Commits, timeoutMS uint32) *tidemarkv1.CommitRequest {
	m, n, total := &s.request, len(c.Topics), c.Count()
	m.ClusterId, m.Atomic, m.TimeoutMs = clusterID(c.Cluster), c.Atomic, timeoutMS
	topics := slices.Grow(s.topics[:0], n)[:n]
	m.Commits = slices.Grow(s.list[:0], n)
	ids, offsets := slices.Grow(s.queueIDs[:0], total), slices.Grow(s.offsets[:0], total)
	epochs := slices.Grow(s.epochs[:0], n)
	for i := range c.Topics {
		t, out := &c.Topics[i], &topics[i]
		out.Group, out.Topic, out.Broker = t.Group, t.Topic, t.Broker
		at := len(ids)
		for _, q := range t.Queues {
			ids, offsets = append(ids, q.QueueID), append(offsets, q.Offset)
		}
		out.QueueIds, out.Offsets = ids[at:len(ids):len(ids)], offsets[at:len(offsets):len(offsets)]
		out.Epochs = toEpochs(epochs[i:i:i+1], t.Queues)
		m.Commits = append(m.Commits, out)
	}
	return m
}

// toEpochs lists the epochs of queues, one element, in the room for one, where
// all are the same.
func toEpochs(one []uint64, queues []offset.QueueCommit) []uint64 {
	if len(queues) == 0 {
		return nil
	}
	for _, q := range queues[1:] {
		if q.Epoch != queues[0].Epoch {
			all := make([]uint64, len(queues))
			for i := range queues {
				all[i] = queues[i].Epoch
			}
			return all
		}
	}
	return append(one, queues[0].Epoch)
}

// FromCommitRequest reads a request; one slab holds the commits of all topics.
func FromCommitRequest(m *tidemarkv1.CommitRequest) (*offset.Commits, error) {
	id, err := parseClusterID(m.GetClusterId())
	if err != nil {
		return nil, err
	}
	total, err := countCommits(m)
	if err != nil {
		return nil, err
	}
	c := &offset.Commits{Cluster: id, Atomic: m.GetAtomic(), Topics: make([]offset.TopicCommits, len(m.GetCommits()))}
	slab := make([]offset.QueueCommit, 0, total)
	for i, t := range m.GetCommits() {
		at := len(slab)
		slab = appendCommits(slab, t)
		c.Topics[i] = offset.TopicCommits{
			Group: t.Group, Topic: t.Topic, Broker: t.Broker,
			Queues: slab[at:len(slab):len(slab)],
		}
	}
	return c, nil
}

// countCommits checks the shape of a request and counts its commits.
func countCommits(m *tidemarkv1.CommitRequest) (total int, err error) {
	if n := len(m.GetCommits()); n > offset.MaxCommits {
		return 0, tooMany("commits", n, offset.MaxCommits)
	}
	for i, t := range m.GetCommits() {
		if t == nil {
			return 0, offset.Errorf(offset.ErrInvalid, "commits[%d] is missing", i)
		}
		n := len(t.QueueIds)
		switch {
		case n == 0:
			return 0, offset.Errorf(offset.ErrInvalid, "commits[%d] has no queue_ids", i)
		case len(t.Offsets) != n:
			return 0, offset.Errorf(offset.ErrInvalid, "commits[%d] has %d queue_ids and %d offsets; there must be as many of each", i, n, len(t.Offsets))
		case len(t.Epochs) != n && len(t.Epochs) != 1:
			return 0, offset.Errorf(offset.ErrInvalid, "commits[%d] has %d queue_ids and %d epochs; give one for each, or one for all", i, n, len(t.Epochs))
		}
		if total += n; total > offset.MaxCommits {
			return 0, tooMany("commits", total, offset.MaxCommits)
		}
	}
	return total, nil
}

func appendCommits(slab []offset.QueueCommit, t *tidemarkv1.TopicCommits) []offset.QueueCommit {
	one := len(t.Epochs) == 1
	for i, id := range t.QueueIds {
		epoch := t.Epochs[0]
		if !one {
			epoch = t.Epochs[i]
		}
		slab = append(slab, offset.QueueCommit{QueueID: id, Offset: t.Offsets[i], Epoch: epoch})
	}
	return slab
}

// ToCommitResponse makes the answer to c. A verdict that is CodeOK travels as
// the offset alone. verdicts has one element for each commit of c; meta is ToMeta's.
func ToCommitResponse(c *offset.Commits, verdicts []offset.Verdict, meta *tidemarkv1.Meta) *tidemarkv1.CommitResponse {
	m := &tidemarkv1.CommitResponse{Meta: meta, Offsets: make([]int64, len(verdicts))}
	for i := range verdicts {
		if verdicts[i].Code != offset.CodeOK {
			m.Refused = toRefusals(c, verdicts, m.Offsets)
			return m
		}
		m.Offsets[i] = verdicts[i].State.Position.Offset
	}
	return m
}

// toRefusals lists what was refused, with its key, and fills in the rest of offsets.
func toRefusals(c *offset.Commits, verdicts []offset.Verdict, offsets []int64) (list []*tidemarkv1.Refusal) {
	at := 0
	for i := range c.Topics {
		t := &c.Topics[i]
		for _, q := range t.Queues {
			v := &verdicts[at]
			if v.Code == offset.CodeOK {
				offsets[at] = v.State.Position.Offset
			} else {
				k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}}
				list = append(list, &tidemarkv1.Refusal{At: uint32(at), Code: uint32(v.Code), State: ToKeyState(k, v.State)})
			}
			at++
		}
	}
	return list
}

// FromCommitResponse reads the answer to a request of count commits. A verdict
// that is CodeOK holds of the state only that the key exists, and its offset.
func FromCommitResponse(m *tidemarkv1.CommitResponse, count int) ([]offset.Verdict, offset.Meta, error) {
	meta, err := FromMeta(m.GetMeta())
	if err != nil {
		return nil, offset.Meta{}, err
	}
	if n := len(m.GetOffsets()); n != count {
		return nil, offset.Meta{}, offset.Errorf(offset.ErrInvalid, "the answer has %d offsets for %d commits", n, count)
	}
	verdicts := make([]offset.Verdict, count)
	for i, o := range m.GetOffsets() {
		if o < 0 {
			return nil, offset.Meta{}, offset.Errorf(offset.ErrInvalid, "offsets[%d] is %d", i, o)
		}
		verdicts[i].State.Exists = true
		verdicts[i].State.Position.Offset = o
	}
	if err := fromRefusals(m.GetRefused(), verdicts); err != nil {
		return nil, offset.Meta{}, err
	}
	return verdicts, meta, nil
}

func fromRefusals(list []*tidemarkv1.Refusal, verdicts []offset.Verdict) error {
	next := 0 // refusals come in ascending order, so none comes twice
	for _, r := range list {
		at := int(r.GetAt())
		if at < next || at >= len(verdicts) {
			return offset.Errorf(offset.ErrInvalid, "refused names commit %d of %d, out of order or range", at, len(verdicts))
		}
		code := offset.Code(r.GetCode())
		if r.GetCode() != uint32(code) || code != offset.CodeFenced && code != offset.CodeNotApplied {
			return offset.Errorf(offset.ErrInvalid, "refused gives commit %d the code %d", at, r.GetCode())
		}
		st, err := FromKeyState("refused state", r.GetState())
		if err != nil {
			return err
		}
		verdicts[at] = offset.Verdict{Code: code, State: st}
		next = at + 1
	}
	return nil
}
