package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
)

// resetsToRealEnds moves a group by what a running broker tells of its queue:
// three messages, a moment, and two more. A broker of 4.9 gives the message that
// is nearest to a time, so it may begin one earlier.
func resetsToRealEnds(t *testing.T, r *real, v javaparts.Version, b *javaparts.Broker, address string) {
	t.Helper()
	const queue = 1
	for range 3 {
		b.Send("moss", queue, []byte("x"))
	}
	moment := time.Now().UnixMilli() + 1
	for time.Now().UnixMilli() < moment { // for a millisecond
	}
	for range 2 {
		b.Send("moss", queue, []byte("x"))
	}
	reset := func(args ...string) ran {
		return r.tidemark(t, append([]string{"group", "reset", "pay", "--topic", "moss", "--queue", "1", "--rocketmq", address}, args...)...)
	}
	// A broker tells of a message once its own index has it.
	ask.Until(t, "the broker tells of all messages", func() bool { return strings.Contains(reset("--to-latest").out, " 5 ") })
	for _, c := range []struct {
		to    string
		after int64
		says  string
	}{
		{"--to-latest", 5, "to the end"},
		{"--to-earliest", 0, "to the earliest"},
		{"--to-time=" + num(moment), 3, "or later"},
		{"--to-time=now", 5, "or later"},
		{"--to-offset=4", 4, "to the offset 4"},
		{"--shift-by=1000", 5, "held at the end"},
	} {
		reset(c.to, "--execute").want(t, 0, c.says, "")
		k := key("pay", "moss", "bk-north", queue)
		states, _, err := r.Client().Fetch(t.Context(), offset.ReadAt{}, k)
		if err != nil {
			t.Fatal(err)
		}
		got, least := states[0].Position, c.after
		if v == javaparts.RocketMQ4 && strings.HasPrefix(c.to, "--to-time") {
			least--
		}
		if got.Offset > c.after || got.Offset < least || !got.Pending {
			t.Errorf("%s moves to %+v; want %d", c.to, got, c.after)
		}
	}
	reset("--to-offset=2", "--execute").want(t, 0, "moved 1 of 1", "")
	r.tidemark(t, "group", "describe", "pay", "--rocketmq", address, "-o", "json").want(t, 0, `"lag": "3"`, "")
}
