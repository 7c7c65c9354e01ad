package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
)

// verdicts keeps what a check finds instead of failing the test.
type verdicts struct {
	testing.TB
	found []string
}

func (v *verdicts) Errorf(format string, args ...any) {
	v.found = append(v.found, fmt.Sprintf(format, args...))
}

// TestCheckBites: a cluster that holds less than was acknowledged, or more than
// was sent, is found out, on every node and at every level.
func TestCheckBites(t *testing.T) {
	c := served.Start(t, 3)
	nodes := c.Nodes()
	k := incluster.Key("g", 0)
	c.Leader().MustCommit(k, 90)
	for _, x := range []struct {
		acked, sent int64
		want        string
	}{
		{90, 90, ""}, {80, 95, ""}, {100, 110, "is 90, and 100 was acknowledged"}, {10, 80, "is 90, and at most 80 was sent"},
	} {
		v := &verdicts{TB: t}
		q := &queue{key: k}
		q.acked.Store(x.acked)
		q.sent.Store(x.sent)
		l := &Load{tb: v, queues: []*queue{q}, cancel: func() {}}
		l.Check(nodes)
		want := 0
		if x.want != "" {
			want = 9 // three levels on three nodes
		}
		if len(v.found) != want {
			t.Errorf("acknowledged %d, sent %d: found %q", x.acked, x.sent, v.found)
		}
		for _, f := range v.found {
			if !strings.Contains(f, x.want) {
				t.Errorf("found %q, want %q", f, x.want)
			}
		}
	}
}

// TestLoadIsAcknowledged: consumers at work come to something, and the reckoning
// agrees with them.
func TestLoadIsAcknowledged(t *testing.T) {
	c := served.Start(t, 3)
	l := Start(t, c.Dial, Shape{Consumers: 2, Queues: 3})
	l.More(3)
	if n := l.Acknowledged(); n < 18 {
		t.Errorf("%d acknowledgements of 6 queues, 3 times each", n)
	}
	l.Check(c.Nodes())
	if gap := l.LongestGap(); gap <= 0 {
		t.Errorf("longest gap %v", gap)
	}
	c.SameLogs(1)
}
