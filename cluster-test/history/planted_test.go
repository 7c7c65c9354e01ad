//go:build tidemark_mutants

package history

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// TestMistakesAreFound runs histories against members that make a mistake (all
// there are, or those that MISTAKE names) and says which check finds it, and when.
func TestMistakesAreFound(t *testing.T) {
	for _, m := range planted.All() {
		if one := os.Getenv("MISTAKE"); one != "" && one != m.String() {
			continue
		}
		planted.Plant(m)
		began := time.Now()
		_, err := Run(t, Config{Duration: 12 * time.Second, Round: 6 * time.Second, Faults: []fault.Fault{}, Keep: t.TempDir()})
		planted.Plant(planted.None)
		var v *Violation
		switch {
		case errors.As(err, &v):
			t.Logf("%-28s found after %v by %q", m, time.Since(began).Round(time.Second), v.Check)
		case err != nil:
			t.Logf("%-28s ended after %v: %.200v", m, time.Since(began).Round(time.Second), err)
		default:
			t.Logf("%-28s not found", m)
		}
	}
}
