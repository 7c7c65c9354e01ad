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
		ctx, kill := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { // until half of it is there, or it is over
			for ctx.Err() == nil {
				if s, err := n.Status(ask.Within(t, ask.Patience)); err != nil || s.Import != nil && s.Import.Next >= s.Import.Chunks/2 {
					kill()
				}
			}
		})
		first := c.TidemarkAt(ctx, strings.Join(c.Endpoints(), ","), "import", path, mode, "--execute")
		kill()
		all.Wait()
		if first.Code == 0 {
			t.Fatalf("%s was over before it was seen half way", mode)
		}
		c.Tidemark("import", path, mode, "--execute").Want(t, 0, mode[2:]+" done", "going on with the import")
		sameAsFile(t, c, path, offsets)
		emptied(t, c)
	}
}
