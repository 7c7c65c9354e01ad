package client

import (
	"context"
	"errors"
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// maxSets is how many own Sets of one run are under way at once.
const maxSets = 64

// sets sends the own Sets of the run: of the queues whose value is to be
// lowered, and that have nothing else under way.
func (r *run) sets(ctx context.Context) {
	var all sync.WaitGroup
	room := make(chan struct{}, maxSets)
	list := r.lowered()
	for i, it := range list {
		if ctx.Err() != nil {
			r.unbegun(list[i:], ctx.Err())
			break
		}
		room <- struct{}{}
		all.Go(func() {
			r.lower(ctx, it)
			<-room
		})
	}
	all.Wait()
}

// lowered lists what is to be lowered now that the commits have their answers.
func (r *run) lowered() (list []item) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, it := range r.items {
		if r.s.table[it.mq] != it.entry {
			continue
		}
		st, v := it.entry.next()
		switch {
		case st != move, r.exact: // what the memory says is another run's
		case it.entry.early():
			r.fail(it.mq, v, errEarly)
		default:
			list = append(list, it.entry.item(it.mq, move, v))
		}
	}
	return list
}

// lower sends one own Set, and takes in what its answer says: acknowledged,
// its index is the epoch; else the queue is frozen, told why, unless it is
// certain that nothing was done and it may be tried again later.
func (r *run) lower(ctx context.Context, it item) {
	v, meta, err := r.s.client.Set(ctx, offset.Set{
		Key: r.s.key(it.mq), Offset: it.value, Cluster: it.cluster,
		Epoch: it.epoch, Exists: it.exists, Replaces: it.known,
	})
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if meta != (offset.Meta{}) {
		r.s.acts.hear(meta)
	}
	switch why := frozenBy(err); {
	case err == nil:
		it.entry.moved(it.value, v.State)
		r.took(it)
	case why != nil:
		r.fence(it, why, v.State)
	default:
		r.fail(it.mq, it.value, err)
	}
}

// frozenBy gives the reason that what a Set failed with freezes its queue; nil
// if it was not done and may be tried again.
func frozenBy(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, offset.ErrOvertaken):
		return offset.ErrOvertaken
	case errors.Is(err, offset.ErrFenced), errors.Is(err, offset.ErrForeignCluster):
		return offset.ErrFenced
	case errors.Is(err, offset.ErrOutcomeUnknown):
		return offset.ErrOutcomeUnknown
	}
	return nil
}
