package cases

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestImportKilledHalfWay: the program that imports is killed with SIGKILL, as by
// a closed laptop or the OOM killer; the same command goes on where it was.
func TestImportKilledHalfWay(t *testing.T) {
	path, offsets := large(t)
	c := local.Start(t, 1)
	n := c.Nodes()[0]
	for _, mode := range []string{"--merge", "--replace"} {
		args := []string{"import", path, mode, "--execute"}
		for tries := 1; !killedHalfWay(t, c, n, args); tries++ {
			if tries == 20 {
				t.Fatalf("%s was over before it was seen half way, each time", mode)
			}
			emptied(t, c)
		}
		c.Tidemark(args...).Want(t, 0, mode[2:]+" done", "going on with the import")
		sameAsFile(t, c, path, offsets)
		emptied(t, c)
	}
}

// killedHalfWay runs the program and kills it when half of the file is there;
// false if it was over by then.
func killedHalfWay(t *testing.T, c *local.Cluster, n *ask.Node, args []string) bool {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			if s, err := n.Status(ask.Within(t, ask.Patience)); err != nil || s.Import != nil && s.Import.Next >= s.Import.Chunks/2 {
				kill()
			}
		}
	})
	r := c.TidemarkAt(ctx, strings.Join(c.Endpoints(), ","), args...)
	kill()
	all.Wait()
	s, err := n.Status(ask.Within(t, ask.Patience))
	if err != nil {
		t.Fatal(err)
	}
	return r.Code != 0 && s.Import != nil
}
