//go:build tidemark_mutants

package history

import (
	"errors"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// TestMistakesAreFound runs histories against members that make a mistake (all
// there are, or the one that MISTAKE names) under the kinds of fault whose names
// FAULT matches (installs of snapshots without), and says which check finds it, and when.
func TestMistakesAreFound(t *testing.T) {
	faults := fault.Installs()
	if which := os.Getenv("FAULT"); which != "" {
		faults = fault.Named(regexp.MustCompile(which))
	}
	for _, m := range append([]planted.Mistake{planted.None}, planted.All()...) {
		if one := os.Getenv("MISTAKE"); one != "" && one != m.String() {
			continue
		}
		planted.Plant(m)
		began := time.Now()
		r, err := Run(t, Config{Duration: 20 * time.Second, Round: 10 * time.Second, Faults: faults, CutLogs: os.Getenv("FAULT") == "", Keep: t.TempDir(), Say: t.Logf})
		planted.Plant(planted.None)
		t.Logf("%s", r)
		var v *Violation
		switch {
		case errors.As(err, &v):
			t.Logf("%-28s found after %v by %q: %.600s", m, time.Since(began).Round(time.Second), v.Check, v.Text)
		case err != nil:
			t.Logf("%-28s ended after %v: %.600v", m, time.Since(began).Round(time.Second), err)
		default:
			t.Logf("%-28s not found", m)
		}
	}
}
