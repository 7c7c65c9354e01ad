package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// checkGroup is the group whose keys a measurement commits to. It is named in
// docs/operations.md.
const checkGroup = "tidemark-check"

// performanceCmd measures the live cluster.
type performanceCmd struct {
	Count int           `help:"How many reads, and how many commits, at most; 1 to 10,000." default:"500"`
	For   time.Duration `help:"How long at most, in all." default:"6s"`
}

// performanceResult is what was measured.
type performanceResult struct {
	Leader string       `json:"leader"`
	Rows   []latencyRow `json:"latencies"`
	// LimitUS is what the slowest commit of 100 should take at most.
	LimitUS durationUS `json:"limitUs"`
	// Share is where the time of a commit goes.
	Share commitShare `json:"share"`
	findings
}

// latencyRow is one kind of call.
type latencyRow struct {
	What  string     `json:"what"`
	Calls int        `json:"calls"`
	P50   durationUS `json:"p50Us"`
	P90   durationUS `json:"p90Us"`
	P99   durationUS `json:"p99Us"`
	Max   durationUS `json:"maxUs"`
}

func (r *performanceResult) table(t *table) {
	t.line("from here to the cluster led by %s, one call at a time", shown(r.Leader))
	t.row("CALL", "TIMES", "P50", "P90", "P99", "MAX")
	for _, x := range r.Rows {
		t.row(x.What, num(x.Calls), x.P50.String(), x.P90.String(), x.P99.String(), x.Max.String())
	}
	r.Share.table(t)
	r.findings.table(t)
}

// Run measures one call behind another, and removes what it committed, also when
// it is interrupted.
func (c *performanceCmd) Run(s *session) (err error) {
	if c.Count < 1 || c.Count > offset.MaxCommits || c.For <= 0 {
		return offset.Errorf(offset.ErrInvalid, "--count is 1 to %d, and --for above 0", offset.MaxCommits)
	}
	st, err := s.leaderStatus()
	if err != nil {
		return err
	}
	m := &measuring{session: s, count: c.Count, time: c.For / 4, bar: s.counter("measuring").Add}
	k := newCheckKey()
	defer func() {
		switch e := m.remove(k); {
		case err == nil:
			err = e
		case e != nil:
			err = fmt.Errorf("%w; and %w", err, e)
		}
	}()
	r := &performanceResult{Leader: st.Meta.Leader, findings: newFindings()}
	if err := m.measure(r, k); err != nil {
		return err
	}
	after, err := m.leaderAgain(r.Leader)
	if err != nil {
		return err
	}
	r.judge(&st, &after)
	if err := s.print(r); err != nil {
		return err
	}
	return r.err()
}

// newCheckKey is a key that nobody else uses: its topic is drawn at random.
func newCheckKey() offset.Key {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return offset.Key{Group: checkGroup, MessageQueue: offset.MessageQueue{Topic: hex.EncodeToString(b[:])}}
}

// measuring makes calls.
type measuring struct {
	*session
	// count and time bound one kind of call.
	count int
	time  time.Duration
	bar   func(int) error
	// made: a commit was sent.
	made bool
}

// measure fills in the rows.
func (m *measuring) measure(r *performanceResult, k offset.Key) error {
	state, meta, err := m.fetch(k, offset.ReadAt{})
	if err != nil {
		return err
	}
	next := int64(0)
	for _, kind := range []struct {
		what string
		call func(context.Context) error
	}{
		{"status of the leader", func(ctx context.Context) error { _, err := m.Status(ctx, r.Leader); return err }},
		{"linearizable read", func(ctx context.Context) error { _, _, err := m.Fetch(ctx, offset.ReadAt{}, k); return err }},
		{"commit", func(ctx context.Context) error {
			m.made = true
			next++
			_, _, err := m.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: next, Epoch: state.Epoch}})
			return err
		}},
	} {
		row, err := m.calls(kind.what, kind.call)
		if err != nil {
			return fmt.Errorf("measuring the %s: %w", kind.what, err)
		}
		r.Rows = append(r.Rows, row)
	}
	return nil
}

// leaderAgain is the status of who led at the start.
func (m *measuring) leaderAgain(addr string) (offset.Status, error) {
	ctx, cancel := m.call()
	defer cancel()
	return m.Status(ctx, addr)
}

// calls makes one kind of call as often as count and time allow; the first few
// find the connection and do not count.
func (m *measuring) calls(what string, call func(context.Context) error) (latencyRow, error) {
	const warm = 3
	var took []time.Duration
	until := time.Now().Add(m.time)
	for i := range m.count + warm {
		ctx, cancel := m.call()
		from := time.Now()
		err := call(ctx)
		cancel()
		if err != nil {
			return latencyRow{}, err
		}
		if i >= warm {
			took = append(took, time.Since(from))
			_ = m.bar(1) // a bar that does not draw is no reason to stop
		}
		if len(took) > 0 && time.Now().After(until) {
			break
		}
	}
	slices.Sort(took)
	rank := func(percent int) durationUS { return us(took[(len(took)*percent+99)/100-1]) }
	return latencyRow{what, len(took), rank(50), rank(90), rank(99), rank(100)}, nil
}

// remove takes the key out again, within a call's time of its own.
func (m *measuring) remove(k offset.Key) error {
	if !m.made {
		return nil
	}
	s := *m.session
	s.ctx = context.WithoutCancel(s.ctx)
	meta, err := s.now()
	if err == nil {
		_, err = s.act(offset.Act{ID: newID(), Base: meta.Index, Cluster: meta.Cluster, Remove: &offset.Remove{Scope: offset.Scope{Group: k.Group, Topic: k.Topic}}})
	}
	if err != nil {
		return fmt.Errorf("removing what was measured with; do it with \"tidemark group remove %s --execute\": %w", checkGroup, err)
	}
	return nil
}

// judge parts the time of a commit by what the leader counted meanwhile, and says
// whether it is good.
func (r *performanceResult) judge(before, after *offset.Status) {
	way, read, commit := &r.Rows[0], &r.Rows[1], &r.Rows[2]
	r.Share = shareOf(&before.Vitals, &after.Vitals)
	r.Share.Way, r.Share.Hearing = way.P50, max(read.P50-way.P50, 0)
	lease := before.Vitals.Lease
	if lease == 0 {
		lease = 300 * time.Millisecond // a build that does not tell; that of lan
	}
	r.LimitUS = us(lease / 3)
	limit := r.Share.limit()
	if commit.P99 > r.LimitUS {
		r.add("", limit.advice, "one commit of 100 takes %s or more, a third of the lease (%s) or more: it waits for two to four syncs, and so does an election after the loss of the leader", commit.P99, r.LimitUS)
		return
	}
	r.note("one caller alone makes %.0f commits a second here; many at once share entries and make more", 1e6/float64(max(commit.P50, 1)))
	r.note("what takes most is %s", limit.name)
}
