package node

import (
	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/offset"
)

// acknowledge is the mistake EarlyAck of package planted, which needs more than a
// line: it answers commits as if they had been applied. No release binary has it.
func (p *proposer) acknowledge(parts []*proposal) {
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
