package history

import (
	"fmt"
	"strings"
	"time"
)

// String is the closing table of a run.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %v of load in %d rounds\n", r.Seed, r.Took.Round(time.Second), r.Rounds)
	fmt.Fprintf(&b, "%-62s %9s %9s\n", "kind of fault", "done", "seen")
	for _, c := range r.Faults {
		if c.Injected > 0 {
			fmt.Fprintf(&b, "%-62s %9d %9d\n", c.Fault, c.Injected, c.Seen)
		}
	}
	for _, row := range []struct {
		what string
		n    int
	}{
		{"changes of leader seen", r.Leaders},
		{"faults while nobody writes", r.Quiet},
		{"calls", r.Calls},
		{"calls answered", r.Answered},
		{"answers checked against one another and the log", r.Checked.Answers},
		{"log entries replayed", r.Checked.Entries},
		{"operations checked by porcupine", r.Checked.Operations},
		{"parts of histories (a queue in all its groups)", r.Checked.Parts},
	} {
		fmt.Fprintf(&b, "%-62s %9d\n", row.what, row.n)
	}
	fmt.Fprintf(&b, "%-62s %9d", "parts given up", r.Checked.Open)
	return b.String()
}
