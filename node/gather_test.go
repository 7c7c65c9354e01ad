package node

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidemark-mq/tidemark/offset"
)

// An entry goes beside others in flight if it carries as many requests as they
// do; what lands lowers the bar.
func TestAnEntryIsAsLargeAsWhatIsInFlight(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight = 4 }, func(p *proposer, l *fakeLog) {
		ctx := context.Background()
		send := func(name string) { call(ctx, p, commits(name, 1)) }
		count := func(entries ...int) {
			t.Helper()
			synctest.Wait()
			for i, want := range entries {
				if l.at(i) == nil {
					t.Fatalf("there is no entry %d", i)
				}
				if got := len(l.requests(i)); got != want {
					t.Fatalf("entry %d carries %d requests, want %d", i, got, want)
				}
			}
			if l.at(len(entries)) != nil {
				t.Fatalf("entry %d was proposed, and should wait", len(entries))
			}
		}
		send("a")
		count(1)
		send("b")
		count(1, 1)
		send("c")
		count(1, 1) // one is less than two
		send("d")
		count(1, 1, 2)
		send("e")
		send("f")
		count(1, 1, 2)
		l.commit(0, nil)
		count(1, 1, 2) // two are less than three
		l.commit(1, nil)
		count(1, 1, 2, 2)
		l.commit(2, nil)
		l.commit(3, nil)
		synctest.Wait()
		if n := p.flying.Load(); n != 0 {
			t.Errorf("%d requests are said to be in flight when nothing is", n)
		}
	})
}

// One large request is worth its syncs, whatever is in flight.
func TestALargeEntryDoesNotWait(t *testing.T) {
	proposing(t, nil, func(p *proposer, l *fakeLog) {
		ctx := context.Background()
		for i := range 2 {
			call(ctx, p, commits(fmt.Sprint("small", i), 1))
		}
		large := commits("large", 1)
		for i := range worthBytes / 200 {
			large.Commits.Topics = append(large.Commits.Topics, offset.TopicCommits{
				Group: "large", Topic: fmt.Sprint(i, strings.Repeat("x", 200)), Queues: []offset.QueueCommit{{Offset: 1}},
			})
		}
		call(ctx, p, large)
		if l.at(2) == nil {
			t.Error("a large request waits for two small ones")
		}
		for i := range 3 {
			l.commit(i, nil)
		}
	})
}
