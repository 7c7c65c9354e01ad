//go:build tidemark_break

package node

import (
	"os"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// breaks are faults built in on purpose, to show that the demonstrations
// notice them. They exist only in builds with the tag tidemark_break, and are
// chosen by the environment variable TIDEMARK_BREAK.
type breaks struct {
	// early acknowledges commits when they are proposed, before any disk.
	early bool
	// noSync leaves out every sync of log and vote.
	noSync bool
}

func brokenOnPurpose() breaks {
	what := os.Getenv("TIDEMARK_BREAK")
	return breaks{early: what == "early-ack", noSync: what == "no-sync"}
}

// earlyAck answers commits as if they had been applied.
func (b breaks) earlyAck(parts []*proposal) {
	if !b.early {
		return
	}
	for _, o := range parts {
		c := o.request.Commits
		if c == nil {
			continue
		}
		verdicts := make([]offset.Verdict, 0, c.Count())
		for _, t := range c.Topics {
			for _, q := range t.Queues {
				verdicts = append(verdicts, offset.Verdict{Code: offset.CodeOK, State: offset.KeyState{
					Exists: true, Epoch: q.Epoch, Position: offset.Position{Offset: q.Offset, Epoch: q.Epoch},
				}})
			}
		}
		o.tell(outcome{answer: fsm.Answer{Verdicts: verdicts}})
	}
}

// window is how many entries may be in flight: who does not wait for answers
// has no bound to stop at.
func (b breaks) window(n int) int {
	if b.early {
		return 1024
	}
	return n
}

func (b breaks) disk(u store.Unsafe) store.Unsafe {
	u.NoSync = b.noSync
	return u
}
