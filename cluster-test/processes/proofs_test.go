package processes

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// script runs a script of cluster-test to its end.
func script(c *local.Cluster, name string, args ...string) (out string, err error) {
	b, err := c.Script(name, args...).CombinedOutput()
	return string(b), err
}

// TestStory is the main proof in small.
func TestStory(t *testing.T) {
	c := local.New(t, 3)
	out, err := script(c, "story.sh", fmt.Sprint(effort.Of(8_000, 1_000_000)))
	if err != nil {
		t.Fatalf("the story fails: %v\n%s", err, out)
	}
	for _, want := range []string{`lost +0\n`, `lowered +0\n`, `fenced +0\n`, `digests +equal on 3 nodes`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the story does not say %q:\n%s", want, out)
		}
	}
	t.Log(out)
}

// TestStoryOfABuildThatAcknowledgesEarly must fail, for what was acknowledged
// and is not there.
func TestStoryOfABuildThatAcknowledgesEarly(t *testing.T) {
	c := local.New(t, 3, local.Planted(planted.EarlyAck))
	out, err := script(c, "story.sh", "8000")
	if err == nil {
		t.Fatalf("the story ends well though commits are acknowledged before they are anywhere:\n%s", out)
	}
	lost := regexp.MustCompile(`lost +(\d+)`).FindStringSubmatch(out)
	if lost == nil || lost[1] == "0" {
		t.Fatalf("the story fails for another reason than a loss:\n%s", out)
	}
	t.Logf("it lost %s", lost[1])
}

// needStrace skips in one line where strace is missing, which .ci/run takes for
// a failure.
func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
}

var sampled = regexp.MustCompile(`sampled acknowledgements (\d+), without an fdatasync on 2 of 3 nodes before it: (\d+)`)

// traced runs the traced cluster and returns the sampled acknowledgements, and
// how many of them no quorum had synced before.
func traced(t *testing.T, c *local.Cluster) (samples, bad int, err error) {
	t.Helper()
	out, err := script(c, "traced.sh", fmt.Sprint(effort.Of(2, 30)))
	m := sampled.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("the traced run does not come to an end: %v\n%s", err, out)
	}
	samples, _ = strconv.Atoi(m[1])
	bad, _ = strconv.Atoi(m[2])
	t.Log(strings.TrimSpace(out))
	return samples, bad, err
}

// TestSyncedBeforeAcknowledged: an fdatasync on a quorum before each sampled
// acknowledgement.
func TestSyncedBeforeAcknowledged(t *testing.T) {
	needStrace(t)
	samples, bad, err := traced(t, local.New(t, 3))
	if err != nil || bad != 0 || samples < 20 {
		t.Errorf("%d samples, %d of them not synced: %v", samples, bad, err)
	}
}

// TestTraceOfABuildThatDoesNotSync must fail.
func TestTraceOfABuildThatDoesNotSync(t *testing.T) {
	needStrace(t)
	samples, bad, err := traced(t, local.New(t, 3, local.Planted(planted.NoSync)))
	if err == nil || bad == 0 {
		t.Errorf("%d samples, %d of them not synced: %v; a build that never syncs passes", samples, bad, err)
	}
}
