package table

// Topics yields every run of queues in key order, those of the table first and
// those staged after them, and stops at the first error, which it returns. The
// TopicState is reused by the next call of yield.
func (r *Root) Topics(yield func(*TopicState) error) error {
	if err := r.live.dump(false, yield); err != nil {
		return err
	}
	return r.staged.dump(true, yield)
}

func (v *view) dump(staged bool, yield func(*TopicState) error) error {
	out := TopicState{Staged: staged}
	all := func(*part) (sieve, bool) { return sieve{}, true }
	last := (*ident)(nil)
	for c := v.groups.all(sieve{}); ; c.next() {
		id, ok := c.item()
		switch {
		case !ok:
			return nil
		case last != nil && id.group == last.group: // on another broker
			continue
		}
		last = id
		m := v.merge(id.group, all, "", nil)
		for {
			p, n := m.next()
			if n == nil {
				break
			}
			out.fill(p, n)
			if err := yield(&out); err != nil {
				return err
			}
		}
	}
}

func (s *TopicState) fill(p *part, n *node) {
	s.Group, s.Topic, s.Broker, s.Base = n.id.group, n.id.topic, n.id.broker, p.base
	s.Queues = s.Queues[:0]
	for i := range n.queues {
		q := &n.queues[i]
		s.Queues = append(s.Queues, QueueState{
			QueueID: q.id(), Pending: q.pending(), Offset: q.offset, Index: q.index(), Epoch: q.epoch(), Time: q.time(),
		})
	}
}

// Rest returns all else that a snapshot of r holds. Its slices belong to the
// root and must not be changed.
func (r *Root) Rest() *Rest {
	rest := &Rest{
		Cluster: r.cluster, Index: r.index, Time: r.time, LastAct: r.lastAct, Evicted: r.evicted, Level: r.level, Later: r.later,
		Base: r.live.base, FloorOfAll: r.floorAll, Floors: r.floors.live(), Claims: r.claims.list(),
		Acts: make([]ActRecord, len(r.acts)), Import: r.imp, Members: r.members,
		Queues: r.live.queues, StagedQueues: r.staged.queues,
	}
	for i, a := range r.acts {
		rest.Acts[i] = *a
	}
	return rest
}
