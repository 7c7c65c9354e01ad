package history

import (
	"context"
	"fmt"

	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/offset"
)

// ballast makes the state so large that to restore it takes some time, by commits
// for a group that no client knows, where they are not there, or not any more: an
// import that replaces all takes them away.
func (x *round) ballast(ctx context.Context) error {
	leader, _, err := fault.WaitLeader(ctx, x.arena)
	if err != nil {
		return err
	}
	node := x.arena.Node(leader)
	key := offset.Key{Group: "ballast", MessageQueue: offset.MessageQueue{Topic: "t0"}}
	states, meta, err := node.Fetch(ctx, &offset.Fetch{Keys: []offset.Key{key}})
	if err != nil || states[0].Exists {
		return err
	}
	for topic := range 4 {
		t := offset.TopicCommits{Group: key.Group, Topic: fmt.Sprint("t", topic)}
		for q := range int32(offset.MaxCommits) {
			t.Queues = append(t.Queues, offset.QueueCommit{QueueID: q, Offset: int64(q), Epoch: states[0].Epoch})
		}
		if _, _, err := node.Commit(ctx, &offset.Commits{Cluster: meta.Cluster, Topics: []offset.TopicCommits{t}}); err != nil {
			return err
		}
	}
	return nil
}
