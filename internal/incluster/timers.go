package incluster

import (
	"time"

	"github.com/tidemark-mq/tidemark/node"
)

// timers are those of raft that members start with: the ordinary ones, but
// where the race detector slows everything down. There a member that is merely
// late for 300 ms would cost an election that no test has asked for.
func timers() node.Timers {
	t := node.LAN()
	for _, d := range []*time.Duration{&t.Heartbeat, &t.Election, &t.Lease} {
		*d *= slower
	}
	return t
}
