package interleavings

import (
	"context"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestMain(m *testing.M) { local.Main(m) }

// act fills in who acts: an id drawn now, and a base read now.
func act(ctx context.Context, t *testing.T, cl *client.Client, a offset.Act) offset.Act {
	t.Helper()
	page, err := cl.List(ctx, offset.List{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	a.ID, a.Base, a.Cluster = incluster.NewActID(), page.Meta.Index, page.Meta.Cluster
	return a
}

// commit commits one offset under the epoch that the key has now.
func commit(ctx context.Context, t *testing.T, cl *client.Client, k offset.Key, value int64) {
	t.Helper()
	s, meta, err := cl.Fetch(ctx, offset.ReadAt{}, k)
	if err == nil {
		_, _, err = cl.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: value, Epoch: s[0].Epoch}})
	}
	if err != nil {
		t.Fatalf("committing %d for %s: %v", value, k, err)
	}
}
