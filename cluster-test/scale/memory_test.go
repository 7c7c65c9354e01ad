package scale

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
)

// The formula of docs/sizing.md: what a process takes at most, in bytes, beside
// what its table and its connections do.
const (
	baseBytes       = 256 << 20
	tableFactor     = 4
	connectionBytes = 128 << 10
)

// metric is a value that a node shows.
func metric(t *testing.T, n *ask.Node, name string) float64 {
	t.Helper()
	v, err := n.Metric(ask.Within(t, ask.Patience), name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fits demands that a node takes no more memory than docs/sizing.md says.
func fits(t *testing.T, n *ask.Node, connections int) {
	t.Helper()
	table, resident := metric(t, n, "tidemark_table_bytes"), metric(t, n, "process_resident_memory_bytes")
	bound := baseBytes + tableFactor*table + float64(connections)*connectionBytes
	t.Logf("%s takes %.0f MB, %.0f MB of it its table, and may take %.0f MB", n.Name, resident/1e6, table/1e6, bound/1e6)
	if resident > bound {
		t.Errorf("%s takes %.0f MB, more than the %.0f MB that docs/sizing.md allows", n.Name, resident/1e6, bound/1e6)
	}
}

// spread shows how long calls took.
func spread(took []time.Duration) string {
	at := func(percent int) time.Duration {
		return took[(len(took)*percent+99)/100-1].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %v, p99 %v, most %v", at(50), at(99), at(100))
}
