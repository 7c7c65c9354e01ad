package fsm

import (
	"maps"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// Apply applies one committed entry and publishes the state. The result is an *Answers.
func (f *FSM) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch applies committed entries in their order and publishes the state,
// once for nearly every batch. Each result is an *Answers; that of a
// configuration is nil.
func (f *FSM) ApplyBatch(logs []*raft.Log) []any {
	b := newBatch(f, len(logs))
	for i, l := range logs {
		b.next = i
		f.applying.Store(l.Index)
		switch {
		case f.Err() != nil:
		case l.Type == raft.LogConfiguration:
			b.try(l.Index, func() { b.configuration(l.Index, raft.DecodeConfiguration(l.Data)) })
		case l.Type == raft.LogCommand:
			b.command(i, l)
		}
		if f.Err() != nil && l.Type == raft.LogCommand && b.results[i] == nil {
			b.results[i] = &Answers{Index: l.Index, Err: f.Err()}
		}
	}
	b.next = len(logs)
	b.try(b.index, b.publish)
	return b.results
}

// StoreConfiguration takes a committed configuration where raft does not bring
// it through ApplyBatch.
func (f *FSM) StoreConfiguration(index uint64, c raft.Configuration) {
	if f.Err() != nil {
		return
	}
	b := newBatch(f, 0)
	b.try(index, func() { b.configuration(index, c); b.publish() })
}

// command decodes an entry and applies it, or latches.
func (b *batch) command(i int, l *raft.Log) {
	e, err := b.decode(l.Data)
	if err != nil && planted.Is(planted.EntrySkipped) {
		b.results[i] = &Answers{Index: l.Index}
		return
	}
	if err != nil { // nothing of it is applied: what came before stands
		b.fsm.fail(l.Index, err)
		return
	}
	b.try(l.Index, func() { b.results[i] = b.apply(l.Index, e) })
}

// decode reads an entry and checks what every replica with this state and
// this build must find as well.
func (b *batch) decode(data []byte) (e *entry.Entry, err error) {
	err = guard(func() error {
		var err error
		e, err = b.fsm.decoder.Decode(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if e.Cluster != b.fsm.config.Cluster {
		return nil, offset.Errorf(offset.ErrForeignCluster, "the entry is one of cluster %s, this node's is %s", e.Cluster, b.fsm.config.Cluster)
	}
	if level := b.table.Root().Level(); e.Level > level {
		return nil, offset.Errorf(offset.ErrLevel, "the entry is of level %d, the cluster uses level %d", e.Level, level)
	}
	for i := range e.Requests {
		if level := e.Requests[i].Level; level > offset.FormatLevel {
			return nil, offset.Errorf(offset.ErrLevel, "the cluster goes on to level %d; this build reads up to %d, run a newer one", level, offset.FormatLevel)
		}
	}
	return e, nil
}

// apply applies all requests of an entry.
func (b *batch) apply(index uint64, e *entry.Entry) *Answers {
	b.begin(index, e.Time)
	a := &Answers{Index: index, Requests: make([]Answer, len(e.Requests))}
	verdicts := make([]offset.Verdict, 0, verdictsOf(e))
	if planted.Is(planted.ApplyByMapOrder) {
		for i := range maps.Collect(slices.All(e.Requests)) {
			verdicts = b.one(&e.Requests[i], &a.Requests[i], verdicts)
		}
		return a
	}
	for i := range e.Requests {
		verdicts = b.one(&e.Requests[i], &a.Requests[i], verdicts)
	}
	return a
}

// one applies one request, and appends its verdicts to those of the others.
func (b *batch) one(r *entry.Request, a *Answer, verdicts []offset.Verdict) []offset.Verdict {
	from := len(verdicts)
	switch {
	case r.Commits != nil:
		verdicts = b.table.Commit(r.Commits, verdicts)
	case r.Set != nil:
		verdicts = append(verdicts, b.set(r))
	default:
		b.request(r, a)
		return verdicts
	}
	a.Verdicts = verdicts[from:len(verdicts):len(verdicts)]
	return verdicts
}

// verdictsOf is how many verdicts the entry will have.
func verdictsOf(e *entry.Entry) int {
	n := 0
	for i := range e.Requests {
		if c := e.Requests[i].Commits; c != nil {
			n += c.Count()
		} else if e.Requests[i].Set != nil {
			n++
		}
	}
	return n
}

func (b *batch) set(r *entry.Request) offset.Verdict {
	ch := b.collect()
	v := b.table.Set(r.Set, ch)
	if ch != nil {
		b.record(r, setRecord(r.Set, v, b.index), ch)
	}
	return v
}

// request applies all but commits and Sets.
func (b *batch) request(r *entry.Request, a *Answer) {
	switch {
	case r.Act != nil:
		ch := b.collect()
		a.Act = b.table.Act(r.Act, r.Step, ch)
		a.Act.Names = slices.Clone(a.Act.Names) // the state remembers the others
		if ch != nil {
			b.record(r, actRecord(r.Act, r.Step, &a.Act), ch)
		}
	case r.Member != nil:
		if !b.table.Announce(*r.Member) {
			a.Code = offset.CodeLimit
		}
		b.record(r, Record{What: "announce", Detail: memberDetail(r.Member)}, nil)
	case r.Forget != "":
		b.table.RemoveMember(r.Forget)
		b.record(r, Record{What: "forget", Detail: forgetDetail(r.Forget)}, nil)
	case r.Level != 0:
		b.raise(r)
	case r.Checkpoint:
		a.Digest = b.table.Digest()
		b.marks = append(b.marks, mark{b.index, a.Digest})
	default:
		b.later(r, a)
	}
}

// raise raises the level and publishes it at once, since the next entry of the
// batch may be of it.
func (b *batch) raise(r *entry.Request) {
	before := b.table.Root().Level()
	b.table.RaiseLevel(r.Level)
	b.record(r, Record{What: "level", Detail: levelDetail(before, max(before, r.Level))}, nil)
	b.publish()
}

// configuration lets the announcements of members vanish that are not in c. It
// looks at what is published, so that all before it is published first: where
// a batch ends must not matter.
func (b *batch) configuration(index uint64, c raft.Configuration) {
	b.publish()
	in := make(map[string]bool, len(c.Servers))
	for _, s := range c.Servers {
		in[string(s.ID)] = true
	}
	for _, m := range b.table.Root().Members() {
		if in[m.ID] {
			continue
		}
		if !b.dirty {
			b.begin(index, 0)
		}
		b.table.RemoveMember(m.ID)
		b.record(&entry.Request{}, Record{What: "forget", Detail: forgetDetail(m.ID)}, nil)
	}
	b.configs = append(b.configs, config{index, c})
}
