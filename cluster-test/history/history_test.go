package history

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

func TestMain(m *testing.M) { local.Main(m) }

// run runs, prints the closing table, and fails the test for whatever is found.
func run(t *testing.T, c Config) {
	t.Helper()
	c.Say, c.Times = t.Logf, 1
	c.Seed, _ = strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	r, err := Run(t, c)
	t.Logf("\n%s", r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults {
		if f.Injected > 0 && f.Seen == 0 {
			t.Errorf("%s was done %d times, and its effect never seen", f.Fault, f.Injected)
		}
	}
	if r.Checked.Operations == 0 || r.Checked.Entries == 0 && !c.CutLogs {
		t.Errorf("nothing was checked: %+v", r.Checked)
	}
}

// TestHistories has each kind of fault seen once under load, inside this process.
func TestHistories(t *testing.T) {
	run(t, Config{Duration: effort.Of(time.Second, time.Minute), Round: 4 * time.Minute, Clients: 6})
}

// TestHistoriesOfProcesses is the same on processes, with those faults that can
// be done to them.
func TestHistoriesOfProcesses(t *testing.T) {
	run(t, Config{Duration: effort.Of(time.Second, time.Minute), Round: 4 * time.Minute, Clients: 6, Processes: true})
}

// TestHistoriesOfCutLogs has members sent snapshots under load, inside this process.
func TestHistoriesOfCutLogs(t *testing.T) {
	run(t, Config{Duration: effort.Of(time.Second, time.Minute), Round: 4 * time.Minute, Clients: 6, CutLogs: true, Faults: fault.Installs()})
}

// TestFaultsHaveNames: they are counted under them.
func TestFaultsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range fault.All() {
		if f.Name == "" || seen[f.Name] {
			t.Errorf("%q is empty, or there twice", f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) < 20 {
		t.Errorf("%d kinds of fault", len(seen))
	}
}
