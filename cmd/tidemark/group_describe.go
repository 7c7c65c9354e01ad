package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// groupDescribeCmd shows a group.
type groupDescribeCmd struct {
	Group   string  `arg:"" help:"Consumer group, byte for byte."`
	Topic   string  `help:"Only this topic's." placeholder:"TOPIC"`
	Broker  *string `help:"Only this broker's; empty for keys without a broker." placeholder:"NAME"`
	Pending bool    `help:"Only what an operator moved and no commit has followed yet."`
	askRocketMQ
	readLevel
}

// describedRow is one queue of a group, with how far it is behind where a
// broker was asked.
type describedRow struct {
	keyRow
	// End is the offset behind the queue's newest message, Lag how many messages
	// are still to come; nil where no broker told.
	End *int64 `json:"end,string,omitempty"`
	Lag *int64 `json:"lag,string,omitempty"`

	age time.Duration
}

// groupResult is all that a group has.
type groupResult struct {
	Group  string `json:"group"`
	Index  uint64 `json:"index,string"`
	Topics int    `json:"topics"`
	Queues int    `json:"queues"`
	// Pending and Claimed count queues that an operator moved and no commit has
	// followed, and queues on which there is a claim.
	Pending int `json:"pending"`
	Claimed int `json:"claimed"`
	// NewestAct is the index of the last act that moved one of the queues, or
	// removed what it had before; 0: none.
	NewestAct uint64 `json:"newestAct,string"`
	// Changed is when one of them moved last.
	Changed string         `json:"changed"`
	Lag     *int64         `json:"lag,string,omitempty"`
	Keys    []describedRow `json:"keys"`

	age   time.Duration
	asked bool
}

func (r *groupResult) table(t *table) {
	t.line("group %s: %s of %s, as of index %d", shown(r.Group), plural(r.Queues, "queue", "queues"), plural(r.Topics, "topic", "topics"), r.Index)
	act := "no act has moved it"
	if r.NewestAct > 0 {
		act = "newest act at index " + num(r.NewestAct)
	}
	t.line("last moved %s, %s ago; %s; %d pending, %d claimed", r.Changed, age(r.age), act, r.Pending, r.Claimed)
	if r.Lag != nil {
		t.line("%s behind", plural(*r.Lag, "message", "messages"))
	}
	head := []string{"TOPIC", "BROKER", "QUEUE", "OFFSET"}
	if r.asked {
		head = append(head, "END", "LAG")
	}
	t.row(append(head, "EPOCH", "INDEX", "CHANGED", "AGE", "")...)
	for i := range r.Keys {
		t.row(r.Keys[i].cells(r.asked)...)
	}
}

func (r *describedRow) cells(asked bool) []string {
	cells := []string{shown(r.Topic), shown(r.Broker), num(r.Queue), num(r.Offset)}
	if asked {
		end, lag := "?", "?"
		if r.End != nil {
			end, lag = num(*r.End), num(*r.Lag)
		}
		cells = append(cells, end, lag)
	}
	var marks []string
	if r.Pending {
		marks = append(marks, "pending")
	}
	if r.Claim > 0 {
		marks = append(marks, "claimed")
	}
	return append(cells, num(r.Epoch), num(r.Index), r.Changed, age(r.age), strings.Join(marks, ", "))
}

// Run shows the group; one that has nothing is exit code 7.
func (c *groupDescribeCmd) Run(s *session) error {
	l := keyList(c.Group, c.Topic, c.Broker, c.at())
	l.Pending = c.Pending
	states, m, err := s.groupKeys(l, "")
	if err != nil {
		return err
	}
	if len(states) == 0 {
		return offset.Errorf(offset.ErrNotFound, "group %s has no offsets there", shown(c.Group))
	}
	r := described(c.Group, m.Index, states, s.clock())
	ends, err := c.ends(s)
	if err != nil {
		return err
	}
	defer ends.close()
	unknown, cause := r.measure(s, ends, states)
	if s.ctx.Err() != nil {
		return fmt.Errorf("asking brokers: %w", s.ctx.Err())
	}
	if err := s.print(r); err != nil {
		return err
	}
	if unknown > 0 {
		return exitf(exitPartial, "the ends of %s are not known: %w", plural(unknown, "queue", "queues"), cause)
	}
	return nil
}

// described sums up the queues of a group, of which there is at least one.
func described(group string, index uint64, states []offset.KeyedState, now time.Time) *groupResult {
	r := &groupResult{Group: group, Index: index, Queues: len(states)}
	var newest int64
	topics := map[string]bool{}
	for _, st := range states {
		row := describedRow{keyRow: rowOf(st.Key, st.KeyState), age: now.Sub(time.UnixMilli(st.Position.Time))}
		r.Keys = append(r.Keys, row)
		topics[st.Key.Topic] = true
		newest = max(newest, st.Position.Time)
		r.NewestAct = max(r.NewestAct, st.Position.Epoch)
		if st.Position.Pending {
			r.Pending++
		}
		if st.Claim > 0 {
			r.Claimed++
		}
	}
	r.Topics, r.Changed, r.age = len(topics), when(newest), now.Sub(time.UnixMilli(newest))
	return r
}

// measure asks the brokers how far each queue is behind, and counts those of
// which none tells, with the cause of the first. A broker that cannot be reached,
// or does not answer in time, is not asked for its other queues.
func (r *groupResult) measure(s *session, ends *ends, states []offset.KeyedState) (unknown int, cause error) {
	if ends == nil {
		return 0, nil
	}
	r.asked, r.Lag = true, new(int64)
	bar := s.bar("asking brokers", len(r.Keys))
	defer bar.Clear()
	silent := map[string]bool{}
	for i := range r.Keys {
		_ = bar.Add(1) // a bar that does not draw is no reason to stop
		row, broker := &r.Keys[i], states[i].Key.Broker
		if silent[broker] {
			unknown++
			continue
		}
		end, err := s.askBroker(states[i].Key, ends.MaxOffset)
		switch {
		case s.ctx.Err() != nil:
			return unknown, cause
		case err != nil:
			silent[broker] = codeOf(err) == exitUnreachable
			unknown++
			cause = cmp.Or(cause, err)
		default:
			lag := max(0, end-row.Offset)
			row.End, row.Lag = &end, &lag
			*r.Lag += lag
		}
	}
	return unknown, cause
}
