//go:build linux

package disks

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/history"
	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
)

// TestHistoriesOnDisks has each fault of a disk seen under a history of clients
// over the whole API, which is checked.
func TestHistoriesOnDisks(t *testing.T) {
	if !effort.Scenarios() {
		t.Skip("takes a minute and more: SCENARIOS=1")
	}
	disks := map[string]*disk.Disk{}
	r, err := history.Run(t, history.Config{
		Duration: effort.Of(time.Second, 5*time.Minute), Round: 2 * time.Minute, Clients: 6, Times: 1, Say: t.Logf,
		Processes: true, Faults: Faults(disks),
		Start: func(tb testing.TB, nodes int) (arena.Arena, error) {
			return Arena(tb, nodes, disks), nil
		},
	})
	t.Logf("\n%s", r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults {
		if f.Seen == 0 {
			t.Errorf("%s was done %d times, and its effect never seen", f.Fault, f.Injected)
		}
	}
}
