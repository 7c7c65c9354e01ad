package interop

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

func TestMain(m *testing.M) { local.Main(m) }

// apart leaves a scenario to make test-interop and make test-scenarios: it takes
// minutes, and the tests of every change have six for all of interop.
func apart(t *testing.T) {
	t.Helper()
	if !effort.Scenarios() {
		t.Skip("a scenario of minutes: make test-scenarios")
	}
}
