package table

import "github.com/tidemark-mq/tidemark/offset"

// Refound gives the table that another cluster begins with, at the index and time
// of at: the offsets of r and their pending marks, as if one replace of all had
// brought them in there, and the format level. Whatever was said to the cluster
// before is older than that: its epochs, bases and act ids count for nothing. Claims,
// acts, the import under way and members are left out.
//
// The error wraps offset.ErrInvalid: at is not beyond all that r holds, or cluster is
// r's own.
func (r *Root) Refound(cluster offset.ClusterID, at Stamp) (*Table, error) {
	if at.Index <= r.index || at.Index > maxIndex || at.Time < r.time || at.Time > maxTime || cluster == r.cluster {
		return nil, offset.Errorf(offset.ErrInvalid, "a cluster %s that begins at index %d is not behind cluster %s at index %d", cluster, at.Index, r.cluster, r.index)
	}
	b := NewBuilder(&Rest{
		Cluster: cluster, Index: at.Index, Time: at.Time, LastAct: at.Index, Evicted: at.Index,
		Level: r.level, Later: r.later, Base: at, FloorOfAll: at.Index, Queues: r.live.queues,
	})
	err := r.live.dump(false, func(s *TopicState) error {
		s.Base = Stamp{}
		for i := range s.Queues {
			q := &s.Queues[i]
			q.Index, q.Epoch, q.Time = 0, 0, 0 // those of the base
		}
		return b.AddTopic(s)
	})
	if err != nil {
		return nil, err
	}
	return b.Done()
}
