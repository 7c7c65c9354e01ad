package fsm

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// rest writes all that a snapshot holds besides the runs.
func (s *snapshotWriter) rest(r *table.Rest) error {
	if err := s.begin(blockState); err != nil {
		return err
	}
	s.numbers(r.Index, uint64(r.Time), r.LastAct, r.Evicted, r.Base.Index, uint64(r.Base.Time), r.FloorOfAll, r.Queues, r.StagedQueues)
	if planted.Is(planted.FloorsNotSaved) {
		r.Floors = nil
	}
	if planted.Is(planted.ActsNotSaved) {
		r.Acts = nil
	}
	if err := each(s, blockFloors, r.Floors, s.floor); err != nil {
		return err
	}
	if err := each(s, blockClaims, r.Claims, s.claim); err != nil {
		return err
	}
	if err := each(s, blockActs, r.Acts, s.act); err != nil {
		return err
	}
	if r.Import != nil {
		if err := each(s, blockImport, []offset.ImportStatus{*r.Import}, s.importStatus); err != nil {
			return err
		}
	}
	if err := each(s, blockMembers, r.Members, s.member); err != nil {
		return err
	}
	return s.later(r)
}

// each writes parts of one kind.
func each[T any](s *snapshotWriter, kind byte, list []T, write func(*T)) error {
	for i := range list {
		if err := s.begin(kind); err != nil {
			return err
		}
		write(&list[i])
	}
	return nil
}

func (s *snapshotWriter) numbers(list ...uint64) {
	for _, v := range list {
		s.buf = binary.AppendUvarint(s.buf, v)
	}
}

func (s *snapshotWriter) strings(list ...string) {
	for _, v := range list {
		s.buf = binary.AppendUvarint(s.buf, uint64(len(v)))
		s.buf = append(s.buf, v...)
	}
}

func (s *snapshotWriter) key(k *offset.Key) {
	s.strings(k.Group, k.Topic, k.Broker)
	s.numbers(uint64(k.QueueID))
}

func (s *snapshotWriter) floor(f *table.Floor) {
	s.buf = bin.AppendBool(s.buf, f.Topic)
	s.strings(f.Name)
	s.numbers(f.Index, uint64(f.Order))
}

func (s *snapshotWriter) claim(c *table.Claim) {
	s.buf = bin.AppendBool(s.buf, c.ByBroker)
	s.strings(c.Name, c.Holder)
	s.numbers(c.Index)
}

func (s *snapshotWriter) act(a *table.ActRecord) {
	s.buf = append(s.buf, a.ID[:]...)
	s.buf = append(s.buf, a.Content[:]...)
	s.buf = append(s.buf, bits(a.Result.Done, actDone)|bits(a.Begun, actBegun)|bits(a.Seen, actSeen), byte(a.Result.Code))
	r := &a.Result
	s.numbers(a.First, uint64(a.Order), r.Index, uint64(r.Next), r.Changed, r.Kept, uint64(a.Item))
	s.key(&a.Cursor)
	s.numbers(uint64(len(r.Names)))
	for i := range r.Names {
		s.key(&r.Names[i])
	}
}

func (s *snapshotWriter) importStatus(i *offset.ImportStatus) {
	s.buf = append(s.buf, i.ID[:]...)
	s.buf = append(s.buf, byte(i.Mode))
	s.buf = append(s.buf, i.Hash[:]...)
	s.strings(i.Group)
	s.numbers(uint64(i.Chunks), i.Offsets, uint64(i.Next), i.Base)
}

func (s *snapshotWriter) member(m *offset.Member) {
	s.strings(m.ID, m.API)
	s.buf = append(s.buf, m.MaxLevel)
}

// bits returns bit if set.
func bits(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

// runContext is what runs are written as differences to: the names of the run
// before in the block, and its last queue.
type runContext struct {
	names [3]string
	queue table.QueueState
}

func (c *runContext) reset() { *c = runContext{} }

// run writes one run of queues.
func (s *snapshotWriter) run(t *table.TopicState) error {
	if err := s.begin(blockRuns); err != nil {
		return err
	}
	based := t.Base != table.Stamp{}
	s.buf = append(s.buf, bits(t.Staged, runStaged)|bits(based, runBased))
	for i, name := range [3]string{t.Group, t.Topic, t.Broker} {
		shared := bin.SharedLen(s.last.names[i], name)
		s.numbers(uint64(shared))
		s.strings(name[shared:])
		s.last.names[i] = name
	}
	if based {
		s.numbers(t.Base.Index, uint64(t.Base.Time))
	}
	s.numbers(uint64(len(t.Queues)))
	s.last.queue.QueueID = -1
	for i := range t.Queues {
		s.buf = appendQueue(s.buf, &t.Queues[i], &s.last.queue)
	}
	s.end.count(t)
	return nil
}

// appendQueue appends a queue as its difference to the one before, and makes
// it the one before. What the base gives leaves the numbers before as they are.
func appendQueue(b []byte, q, was *table.QueueState) []byte {
	based := q.Index == 0 && q.Epoch == 0 && q.Time == 0
	step := bin.Zigzag(int64(q.QueueID)-int64(was.QueueID)-1) << 2
	b = binary.AppendUvarint(b, step|uint64(bits(q.Pending, queuePending)|bits(based, queueBased)))
	b = bin.AppendVarint(b, q.Offset-was.Offset)
	was.QueueID, was.Offset = q.QueueID, q.Offset
	if based {
		return b
	}
	b = bin.AppendVarint(b, int64(q.Index-was.Index))
	b = bin.AppendVarint(b, int64(q.Epoch-was.Epoch))
	b = bin.AppendVarint(b, q.Time-was.Time)
	was.Index, was.Epoch, was.Time = q.Index, q.Epoch, q.Time
	return b
}
