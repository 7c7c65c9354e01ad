// Package history runs a cluster under concurrent clients and faults, records
// every call and its answer, and checks what was recorded. DESIGN.md says what
// is checked, and how.
package history

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/cluster-test/history/verify"
	"github.com/tidemark-mq/tidemark/internal/incluster"
)

// Config says what is run. The zero value is a cluster of three inside this
// process under every fault there is, for 20 s, from a seed that is drawn.
type Config struct {
	// Seed decides what clients and faults do; 0: drawn. The order of things
	// still depends on the machine.
	Seed uint64
	// Duration is how long clients are at work, the checks apart. Default: 20 s.
	Duration time.Duration
	// Nodes is the size of the cluster. Default: 3.
	Nodes int
	// Clients is how many clients are at work at once. Default: 12.
	Clients int
	// Processes runs tidemarkd, as Start makes it; else members in this process.
	Processes bool
	// Start makes the cluster; nil: as Processes says.
	Start func(tb testing.TB, nodes int) (arena.Arena, error)
	// CutLogs has the members of a cluster inside this process keep no log behind a
	// snapshot, so that who was away is sent one. The history has no replay then.
	CutLogs bool
	// Options change the members of a cluster inside this process.
	Options []incluster.Option
	// Faults are the kinds of fault; nil: fault.All, and fault.Installs with
	// CutLogs. None: an empty list.
	Faults []fault.Fault
	// Round is how long clients work on one cluster, and how long its history may
	// get before it is checked. Default: 20 s.
	Round time.Duration
	// Times is how often the effect of each kind is to be seen: the run goes on
	// beyond Duration for that, by one further Round at most. Default: 0.
	Times int
	// Say is told what happens; nil: nobody.
	Say func(format string, args ...any)
	// Keep is the folder for a history that fails; default: that for temporary files.
	Keep string
}

// Report is what a run did.
type Report struct {
	Seed uint64
	// Took is how long clients were at work, in so many Rounds: each is a cluster of its own.
	Took   time.Duration
	Rounds int
	// Calls are operations that clients sent, Answered those whose answer came; what
	// readers ask is not counted.
	Calls, Answered int
	// Quiet is how many faults were done while no client wrote.
	Quiet int
	// Leaders is how often another leader was seen than before.
	Leaders int
	// Checked is what the checks looked at.
	Checked verify.Counts
	// Faults counts by kind, in the order of Config.Faults.
	Faults []Count
}

// Count is how often a kind of fault was done, and how often its effect was seen.
type Count struct {
	Fault          string
	Injected, Seen int
}

// Violation is a promise that was broken.
type Violation struct {
	// Check names the check that found it.
	Check string
	// Text says what was found.
	Text string
	// File is the history, to be checked again or drawn by cluster-test/replay.
	File string
}

// Error says which promise was broken, and where the history is.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s: %s (history: %s)", v.Check, v.Text, v.File)
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.Duration, 20*time.Second)
	def(&c.Round, 20*time.Second)
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	if c.Nodes == 0 {
		c.Nodes = 3
	}
	if c.Clients == 0 {
		c.Clients = 12
	}
	if c.Keep == "" {
		c.Keep = os.TempDir()
	}
	if c.Say == nil {
		c.Say = func(string, ...any) {}
	}
	if c.Faults == nil {
		c.Faults = fault.All()
		if c.CutLogs {
			c.Faults = append(c.Faults, fault.Installs()...)
		}
	}
	if c.CutLogs {
		c.Options = append(c.Options, func(m *incluster.Member) { m.Config.Snapshots.TrailingBytes = 1 })
	}
	if c.Start == nil {
		c.Start = func(tb testing.TB, n int) (arena.Arena, error) {
			if c.Processes {
				return arena.Processes(tb, n), nil
			}
			return arena.InProcess(tb, n, c.Options...), nil
		}
	}
	return c
}
