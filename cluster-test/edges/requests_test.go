package edges

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// bench is a cluster of one, asked without the client library, which would refuse
// by itself what is too much.
type bench struct {
	t       *testing.T
	node    *ask.Node
	cluster offset.ClusterID
	member  *incluster.Member
}

func begin(t *testing.T) *bench {
	t.Helper()
	c := served.Start(t, 1)
	m := c.Leader()
	return &bench{t, c.Nodes()[0], m.Status().Meta.Cluster, m}
}

// queues is how many offsets there are.
func (b *bench) queues() uint64 { return b.member.Status().Queues }

// commits are those of n topics of one queue each.
func (b *bench) commits(group string, n int, topic func(i int) string) *offset.Commits {
	c := &offset.Commits{Cluster: b.cluster}
	for i := range n {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: group, Topic: topic(i), Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	return c
}

// TestEdgesOfNames: 255 bytes, and not 256; bytes, not letters.
func TestEdgesOfNames(t *testing.T) {
	b := begin(t)
	longest := strings.Repeat("n", offset.MaxName)
	for _, name := range []string{longest, longest + "n", strings.Repeat("é", offset.MaxName/2+1)} {
		for field, key := range map[string]offset.Key{
			"group":  {Group: name, MessageQueue: offset.MessageQueue{Topic: "t"}},
			"topic":  {Group: "g", MessageQueue: offset.MessageQueue{Topic: name}},
			"broker": {Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: name}},
		} {
			before := b.queues()
			_, _, err := b.node.Commit(ask.Within(t, ask.Patience), &offset.Commits{Cluster: b.cluster, Topics: []offset.TopicCommits{{
				Group: key.Group, Topic: key.Topic, Broker: key.Broker, Queues: []offset.QueueCommit{{Offset: 1}},
			}}})
			if fits := len(name) <= offset.MaxName; fits != (err == nil) || !fits && (!errors.Is(err, offset.ErrInvalid) || b.queues() != before) {
				t.Errorf("a %s of %d bytes: %v, %d queues more", field, len(name), err, b.queues()-before)
			}
		}
	}
}

// TestEdgesOfCounts: of commits, keys and targets one request carries 1 to 10,000;
// a page has up to 10,000 rows, also where more are asked for.
func TestEdgesOfCounts(t *testing.T) {
	b := begin(t)
	within := func() context.Context { return ask.Within(t, ask.Patience) }
	for _, n := range []int{1, offset.MaxCommits, offset.MaxCommits + 1} {
		c := &offset.Commits{Cluster: b.cluster, Topics: []offset.TopicCommits{{Group: "g", Topic: "t"}}}
		keys := make([]offset.Key, n)
		for q := range n {
			c.Topics[0].Queues = append(c.Topics[0].Queues, offset.QueueCommit{QueueID: int32(q), Offset: 1})
			keys[q] = offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: int32(q)}}
		}
		var reset strings.Builder
		fmt.Fprintf(&reset, `{"act":{"id":"%032x","base":"%d","clusterId":"%s"},"targets":[`, n, b.member.Status().DigestIndex, b.cluster)
		for q := range n {
			fmt.Fprintf(&reset, `%s{"key":{"group":"g","topic":"t","queueId":%d},"offset":"2"}`, strings.Repeat(",", min(q, 1)), q)
		}
		reset.WriteString("]}")
		before := b.queues()
		_, _, committed := b.node.Commit(within(), c)
		if n > offset.MaxCommits && b.queues() != before {
			t.Errorf("a refused request made %d queues", b.queues()-before)
		}
		_, _, fetched := b.node.Fetch(within(), offset.ReadAt{}, keys...)
		for what, err := range map[string]error{"commits": committed, "keys": fetched} {
			if fits := n <= offset.MaxCommits; fits != (err == nil) || !fits && !errors.Is(err, offset.ErrInvalid) {
				t.Errorf("%d %s: %v", n, what, err)
			}
		}
		status, answer, err := b.node.Post(within(), "GroupService/Reset", reset.String())
		if want := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[n <= offset.MaxCommits]; err != nil || status != want {
			t.Errorf("%d targets: %d %.200v, %v", n, status, answer, err)
		}
	}
	if _, _, err := b.node.Commit(within(), b.commits("more", 5, func(i int) string { return fmt.Sprint(i) })); err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[int]int{1: 1, offset.MaxPage: offset.MaxPage, offset.MaxPage + 1: offset.MaxPage, 0: offset.MaxPage} {
		_, answer, err := b.node.Post(within(), "GroupService/List", fmt.Sprintf(`{"what":"LIST_KIND_KEYS","limit":%d}`, asked))
		if rows, ok := answer["states"].([]any); err != nil || !ok || len(rows) != want {
			t.Errorf("a page of %d rows has %d, %v", asked, len(rows), err)
		}
	}
	for what, call := range map[string]string{
		"OffsetService/Fetch": `{"keys":[]}`, "OffsetService/Commit": fmt.Sprintf(`{"clusterId":"%s","commits":[]}`, b.cluster),
	} {
		if status, answer, err := b.node.Post(within(), what, call); err != nil || status != http.StatusBadRequest {
			t.Errorf("%s of nothing: %d %v, %v", what, status, answer, err)
		}
	}
}

// TestEdgeOfTheMessage: 1 MiB, and not a byte more, whatever is in it.
func TestEdgeOfTheMessage(t *testing.T) {
	b := begin(t)
	for _, bytes := range []int{offset.MaxMessage, offset.MaxMessage + 1} {
		body := "{" + strings.Repeat(" ", bytes-2) + "}"
		status, answer, err := b.node.Post(ask.Within(t, ask.Patience), "ClusterService/Status", body)
		if fits := bytes <= offset.MaxMessage; err != nil || fits != (status == http.StatusOK) || !fits && status != http.StatusTooManyRequests {
			t.Errorf("a message of %d bytes: %d %v, %v", bytes, status, answer["message"], err)
		}
	}
}

// TestEdgeOfTheEntry: a request of 512 KiB in the log is taken, one of a byte more
// refused, whatever room it would have found in its message.
func TestEdgeOfTheEntry(t *testing.T) {
	b := begin(t)
	for _, over := range []int{0, 1} {
		c := b.sized(offset.MaxRequest + over)
		before := b.queues()
		_, _, err := b.node.Commit(ask.Within(t, ask.Patience), c)
		switch {
		case over == 0 && (err != nil || b.queues() != before+uint64(len(c.Topics))):
			t.Errorf("a request of %d bytes: %v, %d of %d queues", offset.MaxRequest, err, b.queues()-before, len(c.Topics))
		case over > 0 && (!errors.Is(err, offset.ErrInvalid) || b.queues() != before):
			t.Errorf("a request of %d bytes: %v, %d queues more", offset.MaxRequest+over, err, b.queues()-before)
		}
	}
}

// sized is a request that takes just so many bytes of the log.
func (b *bench) sized(bytes int) *offset.Commits {
	b.t.Helper()
	group := fmt.Sprint("g", bytes)
	name := func(i, n int) string { // of names alike only what differs is kept, so they differ at once
		return fmt.Sprintf("%05d", i) + strings.Repeat(string(rune('a'+i%26)), n-5)
	}
	size := func(c *offset.Commits) int {
		return entry.Size(&entry.Request{Principal: "anonymous", From: "app1:00000", Commits: c})
	}
	n := bytes / (offset.MaxName + 40)
	c := b.commits(group, n, func(i int) string { return name(i, offset.MaxName) })
	for size(c) < bytes-2*offset.MaxName {
		c = b.commits(group, len(c.Topics)+1, func(i int) string { return name(i, offset.MaxName) })
	}
	for at := 6; size(c) < bytes; at++ {
		more := b.commits(group, len(c.Topics)+1, func(i int) string { return name(i, offset.MaxName) })
		last := &more.Topics[len(more.Topics)-1]
		if last.Topic = name(len(c.Topics), min(at, offset.MaxName)); size(more) == bytes {
			return more
		}
		if at == offset.MaxName {
			c, at = more, 6
		}
	}
	b.t.Fatalf("no request takes %d bytes", bytes)
	return nil
}
