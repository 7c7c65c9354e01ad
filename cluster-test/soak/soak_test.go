//go:build linux

// Package soak is make soak: histories of clients over the whole API under every
// kind of fault there is, for as long as is asked, on members in one process, on
// processes, and on processes whose disks break.
package soak

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/disks"
	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/history"
	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

func TestMain(m *testing.M) { local.Main(m) }

// part is a share of the time on one kind of cluster.
type part struct {
	name   string
	share  float64
	config history.Config
}

// parts are a soak. Each kind of fault has its effect seen at least five times.
func parts() []part {
	broken := map[string]*disk.Disk{}
	return []part{
		{"members in one process", 0.3, history.Config{}},
		{"members that are sent snapshots", 0.15, history.Config{CutLogs: true}},
		{"processes", 0.35, history.Config{Processes: true}},
		{"processes whose disks break", 0.2, history.Config{
			Processes: true, Faults: disks.Faults(broken),
			Start: func(tb testing.TB, nodes int) (arena.Arena, error) { return disks.Arena(tb, nodes, broken), nil },
		}},
	}
}

func TestSoak(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("DURATION"))
	if err != nil {
		t.Skip("only with a DURATION: make soak DURATION=30m")
	}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	for _, p := range parts() {
		t.Run(p.name, func(t *testing.T) {
			c := p.config
			c.Duration = time.Duration(p.share * float64(d))
			c.Seed, c.Times, c.Clients, c.Say, c.Keep = seed, 5, 16, t.Logf, os.Getenv("KEEP")
			r, err := history.Run(t, c)
			t.Logf("\n%s", r)
			if err != nil {
				t.Fatalf("%v\nshow it: go run ./cluster-test/replay FILE", err)
			}
			for _, f := range r.Faults {
				if f.Injected > 0 && f.Seen < c.Times { // none of those that can't be done there
					t.Errorf("the effect of %q was seen %d times, not %d", f.Fault, f.Seen, c.Times)
				}
			}
		})
	}
}
