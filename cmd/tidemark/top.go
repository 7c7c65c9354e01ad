package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// topCmd shows what moves.
type topCmd struct {
	Interval time.Duration `help:"Time between two looks, 200ms or more." default:"2s"`
	Once     bool          `help:"Print one look and end; the default where the output is not a terminal." xor:"looks"`
	Count    int           `help:"Print this many looks and end." xor:"looks" placeholder:"N"`
	Group    string        `help:"Only this group, and each of its queues." placeholder:"GROUP"`
	Limit    int           `help:"At most this many rows, those that move most." default:"20"`
}

// leastInterval bounds what a look may cost the cluster.
const leastInterval = 200 * time.Millisecond

// home puts the cursor of a terminal into its corner and clears what is behind.
const home = "\x1b[H\x1b[2J"

// Run looks again and again, until it has looked as often as was asked for or
// is interrupted.
func (c *topCmd) Run(s *session) error {
	if c.Interval < leastInterval || c.Count < 0 || c.Limit < 1 {
		return offset.Errorf(offset.ErrInvalid, "--interval is at least %s, --limit at least 1, and --count above 0", leastInterval)
	}
	if err := offset.ValidateName("--group", c.Group, true); err != nil {
		return err
	}
	looks := c.Count
	if c.Once || looks == 0 && !s.screen {
		looks = 1
	}
	w := newWatch(s, c.Group)
	if err := w.begin(); err != nil {
		return err
	}
	err := c.show(s, w, looks)
	if looks == 0 && errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is how one leaves
	}
	return err
}

// show prints looks, without end if looks is 0.
func (c *topCmd) show(s *session, w *watch, looks int) error {
	tick := time.NewTicker(c.Interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		r, err := w.look(c.Limit)
		switch {
		case err != nil && (looks > 0 || s.ctx.Err() != nil):
			return err
		case err != nil:
			s.note("no answer: %s", oneLine(err))
			continue
		}
		if err := c.print(s, r, n); err != nil {
			return err
		}
		if n == looks {
			return nil
		}
	}
}

// print puts a look in the place of the one before, or below it.
func (c *topCmd) print(s *session, r *topResult, n int) error {
	before := ""
	switch {
	case s.screen && s.format == "table":
		before = home
	case n > 1 && s.format == "yaml":
		before = "---\n"
	case n > 1 && s.format == "table":
		before = "\n"
	}
	if _, err := fmt.Fprint(s.out, before); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return s.print(r)
}

// topResult is one look.
type topResult struct {
	// Seconds is the time since the look before, which all rates are over.
	Seconds float64 `json:"seconds"`
	Leader  string  `json:"leader"`
	Term    uint64  `json:"term,string"`
	Index   uint64  `json:"index,string"`
	Groups  uint64  `json:"groups,string"`
	Queues  uint64  `json:"queues,string"`
	// Commits and Entries are per second: commits decided, of all members, and
	// entries of the log.
	Commits float64     `json:"commitsPerSecond"`
	Entries float64     `json:"entriesPerSecond"`
	Members []topMember `json:"members"`
	// Total is how many rows are known: of the first offsets by name, read at the
	// start, and of all that have moved since. Rows are those that move most.
	Total int      `json:"total"`
	Rows  []topRow `json:"rows"`
	// Partial: more offsets moved than a look reads. Rates are of the first by name.
	Partial bool `json:"partial"`
}

// topMember is one member.
type topMember struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	State string `json:"state"`
	// Lag is how many entries it lacks, ContactMS how long the leader has not
	// heard of it; -1 where nobody knows.
	Lag       int64 `json:"lag,string"`
	ContactMS int64 `json:"contactMs"`
	// Commits and Writes are per second, Mean is of one write of its log.
	Commits float64    `json:"commitsPerSecond"`
	Writes  float64    `json:"writesPerSecond"`
	Mean    durationUS `json:"writeMeanUs"`
}

// topRow is a group, or a queue of one.
type topRow struct {
	Group  string `json:"group"`
	Topic  string `json:"topic,omitempty"`
	Broker string `json:"broker,omitempty"`
	Queue  *int32 `json:"queue,omitempty"`
	// Offset is a queue's.
	Offset int64 `json:"offset,string,omitempty"`
	// Moves is how many offsets have moved, a second: at least as many commits
	// were made. Messages is by how much, where that is known; Unknown counts
	// offsets of which it is not, since they were not seen before.
	Moves    float64 `json:"movesPerSecond"`
	Messages float64 `json:"messagesPerSecond"`
	Unknown  int     `json:"unknown,omitempty"`
	// Acts is how many were moved by an act since the look before.
	Acts int `json:"acts,omitempty"`
	// AgeMS is the time since the last movement.
	AgeMS int64 `json:"ageMs,string"`
}

func (r *topResult) table(t *table) {
	leader := r.Leader
	if leader == "" {
		leader = "none"
	}
	t.line("leader %s, term %d, index %d, %s, %s", leader, r.Term, r.Index, plural(r.Groups, "group", "groups"), plural(r.Queues, "queue", "queues"))
	t.line("%s commits/s, %s entries/s, over %.1fs", rate(r.Commits), rate(r.Entries), r.Seconds)
	t.row("MEMBER", "ROLE", "STATE", "LAG", "CONTACT", "COMMITS/S", "WRITES/S", "WRITE MEAN")
	for _, m := range r.Members {
		lag, contact := "-", "-"
		if m.Lag >= 0 {
			lag = num(m.Lag)
		}
		if m.ContactMS >= 0 {
			contact = span(time.Duration(m.ContactMS) * time.Millisecond)
		}
		t.row(shown(m.ID), m.Role, m.State, lag, contact, rate(m.Commits), rate(m.Writes), m.Mean.String())
	}
	t.line("")
	r.rows(t)
}

// rows shows what moved.
func (r *topResult) rows(t *table) {
	switch {
	case r.Total == 0:
		t.line("there are no offsets, or none that has moved since the start")
		return
	case r.Rows[0].Queue == nil:
		t.row("GROUP", "MOVES/S", "MESSAGES/S", "ACTS", "AGE")
	default:
		t.row("TOPIC", "BROKER", "QUEUE", "OFFSET", "MOVES/S", "MESSAGES/S", "ACTS", "AGE")
	}
	for _, x := range r.Rows {
		cells := []string{shown(x.Group)}
		if x.Queue != nil {
			cells = []string{shown(x.Topic), shown(x.Broker), num(*x.Queue), num(x.Offset)}
		}
		messages := rate(x.Messages)
		if x.Unknown > 0 {
			messages += "+" // and what nobody can tell
		}
		t.row(append(cells, rate(x.Moves), messages, num(x.Acts), span((time.Duration(x.AgeMS) * time.Millisecond).Truncate(100*time.Millisecond)))...)
	}
	if more := r.Total - len(r.Rows); more > 0 {
		t.line("and %d more (--limit)", more)
	}
	if r.Partial {
		t.line("more than %d offsets moved: what is shown is of the first by name", movedPages*offset.MaxPage)
	}
}

// rate gives a number a second for people.
func rate(n float64) string {
	if n > 0 && n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}
