package interop

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// brokerMistakes are the mistakes that a build of the broker's jar makes on
// demand (java/broker, planted.Mistake), and the proof of a promise that has to
// fail then: none was written for one mistake.
var brokerMistakes = []struct{ mistake, proof string }{
	{"answered-early", "TestKillOfBrokerAndConsumers"},
	{"log-not-awaited", "TestPoppedMessagesRestOnTheLog"},
	{"order-lost", "TestSideBySide$/^5.5.0$/^faults"},
	{"reset-undone", "TestResetsAreFollowed"},
	{"table-not-read", "TestOffsetsOutliveTheBroker"},
	{"claim-ignored", "TestTwoMastersOfOneName"},
}

// TestBrokerMistakes runs each proof with its mistake: it must fail. That the
// same proofs pass without is what the rest of this package shows. It needs the
// jar that has the mistakes, in TIDEMARK_MUTANT_JAR: make mutants-broker.
func TestBrokerMistakes(t *testing.T) {
	jar := os.Getenv("TIDEMARK_MUTANT_JAR")
	if jar == "" {
		t.Skip("run by make mutants-broker, which builds the jar with the mistakes")
	}
	for _, m := range brokerMistakes {
		t.Run(m.mistake, func(t *testing.T) {
			began := time.Now()
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count", "1", "-v", "-timeout", "15m", "-run", "^"+m.proof+"$", "./interop")
			cmd.Dir = local.Root()
			cmd.Env = append(os.Environ(), "SCENARIOS=1", "TIDEMARK_BROKER_JAR="+jar, "TIDEMARK_BROKER_MISTAKE="+m.mistake)
			said, err := cmd.CombinedOutput()
			test, _, _ := strings.Cut(m.proof, "$")
			ran := strings.Contains(string(said), "--- FAIL: "+test)
			if err == nil || !ran {
				t.Errorf("%s did not find it (%v): %s", m.proof, err, tail(string(said)))
				return
			}
			t.Logf("found by %s after %v: %s", m.proof, time.Since(began).Round(time.Second), complaint(string(said)))
		})
	}
}

// complaint is the first line by which a test said what is wrong.
func complaint(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.Contains(line, "_test.go:") && !strings.Contains(line, "acknowledged ") {
			return line
		}
	}
	return ""
}
