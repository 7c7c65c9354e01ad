package processes

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/load"
)

// TestThePageOnGrowing: who follows docs/operations.md line by line has three
// nodes in the end, with everything that was acknowledged.
func TestThePageOnGrowing(t *testing.T) {
	g := grow(t)
	g.start("dev")
	l := load.Start(t, g.dial, load.Shape{Consumers: 3, Pace: 5 * time.Millisecond})
	l.More(3)
	for _, line := range pageLines(t, "\n## Grow from --dev to three nodes\n", "\n## ") {
		if strings.HasPrefix(line, "mv ") { // the page has the node stopped before
			if code := g.running["dev"].Stop(t); code != 0 {
				t.Errorf("the node of --dev ends with %d", code)
			}
		}
		g.follow("dev", strings.ReplaceAll(line, "~/.local/state/tidemark-dev", filepath.Join(g.home, "tidemark-dev")))
	}
	if log := g.running["dev"].Log(); !strings.Contains(log, "address has changed in the cluster") {
		t.Error("the log does not say that the address has changed, as the page promises")
	}
	l.More(3)
	g.running["dev"].Kill()
	l.More(3)
	g.start("dev")
	l.Check(g.nodes())
}
