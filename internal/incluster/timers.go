package incluster

import (
	"time"

	"github.com/tidemark-mq/tidemark/node"
)

// Slower makes timers of raft twice as long where the race detector slows
// everything down: there a member that is merely late would cost an election
// that no test has asked for. Members start with the ordinary ones made so.
func Slower(t node.Timers) node.Timers {
	for _, d := range []*time.Duration{&t.Heartbeat, &t.Election, &t.Lease} {
		*d *= slower
	}
	return t
}
