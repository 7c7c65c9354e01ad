package consumer

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// scenarios are what consumers with the store go through, one after the other.
var scenarios = []struct {
	name string
	run  func(t *testing.T, s *scene)
}{
	{"an operator's resets", reset},
	{"the leader is killed", leaderKilled},
	{"consumers are killed", consumerKilled},
	{"consumers are shut down", shutDown},
	{"two share the queues", twoShare},
	{"the cluster is away", clusterAway},
}

// inEveryRun are the first scenarios, which the tests of every change run.
const inEveryRun = 2

// TestStore runs all scenarios with the newest client and broker; whole, with
// each pair of client and broker.
func TestStore(t *testing.T) {
	type pair struct {
		broker javaparts.Version
		client fleet.Client
	}
	newest := pair{javaparts.RocketMQ5, fleet.Java5}
	for _, p := range effort.Of([]pair{newest}, []pair{
		newest, {javaparts.RocketMQ5, fleet.Java53}, {javaparts.RocketMQ5, fleet.Java4}, {javaparts.RocketMQ5, fleet.Java49},
		{javaparts.RocketMQ4, fleet.Java4}, {javaparts.RocketMQ4, fleet.Java49}, {javaparts.RocketMQ4, fleet.Java5},
	}) {
		t.Run(string(p.client)+" on "+string(p.broker), func(t *testing.T) {
			s := newScene(t, p.broker, p.client)
			for i, sc := range scenarios {
				if i >= inEveryRun && !effort.Scenarios() {
					break
				}
				t.Run(sc.name, func(t *testing.T) { sc.run(t, s) })
			}
		})
	}
}

// TestOldClient is what is different with the oldest client on the oldest broker.
func TestOldClient(t *testing.T) {
	if !effort.Scenarios() {
		t.Skip("a scenario of minutes: make test-scenarios")
	}
	s := newScene(t, javaparts.RocketMQ4, fleet.Java49)
	t.Run("the cluster is away at a first pull", func(t *testing.T) { firstPull(t, s) })
	t.Run("the broker errs", func(t *testing.T) { brokerErrs(t, s) })
	t.Run("an operator's resets", func(t *testing.T) { reset(t, s) })
}
