package processes

import (
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestTranscript runs every command of tidemark on a living cluster, and
// compares the exit codes with what is promised (C53, mxsm/rocketmq-rust#10768).
func TestTranscript(t *testing.T) {
	c := local.New(t, 4) // the fourth is the one that the transcript adds
	args := []string{"5", "short"}
	if effort.Of(0, 1) == 1 {
		args = nil
	}
	out, err := script(c, "transcript.sh", args...)
	if err != nil || !strings.HasSuffix(out, "all as promised\n") {
		t.Fatalf("the transcript is not as promised: %v\n%s", err, out)
	}
	t.Log(out)
}
