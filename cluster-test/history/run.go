package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/cluster-test/history/verify"
	"github.com/tidemark-mq/tidemark/cluster-test/history/workload"
)

// The bounds of a run.
const (
	// patience bounds a call, effectTime how long an effect is waited for, healTime
	// how long a cluster that was healed may take until all its nodes serve.
	patience   = 1500 * time.Millisecond
	effectTime = 15 * time.Second
	healTime   = time.Minute
	// quietly: of so many faults one is done while clients write nothing, so that
	// what hides behind the next command shows.
	quietly = 5
)

// Run runs clusters as c says, one after another. It ends at the first violation,
// with a *Violation as the error; another error means that the run itself failed,
// such as when a cluster did not heal. All that it started has ended when it
// returns. The report is of what was done until then.
func Run(tb testing.TB, c Config) (Report, error) {
	tb.Helper()
	c = c.withDefaults()
	report := Report{Seed: c.Seed}
	for _, f := range c.Faults {
		report.Faults = append(report.Faults, Count{Fault: f.Name})
	}
	r := rand.New(rand.NewPCG(c.Seed, 0))
	deck := &deck{r: r}
	for report.Took < c.Duration || report.Took < c.Duration+c.Round && !report.seen(deck.kinds, c.Times) {
		x := &round{config: c, report: &report, r: r, deck: deck, number: report.Rounds}
		x.length = min(c.Round, max(0, c.Duration-report.Took))
		if err := inside(tb, x.run); err != nil {
			return report, err
		}
		report.Rounds++
		c.Say("round %d: %d calls, %d answers checked, %d operations by porcupine, %d changes of leader",
			report.Rounds, report.Calls, report.Checked.Answers, report.Checked.Operations, report.Leaders)
	}
	return report, nil
}

// round is one cluster, from its founding until its history is checked.
type round struct {
	config Config
	report *Report
	r      *rand.Rand
	deck   *deck
	number int
	length time.Duration

	arena arena.Arena
	rec   *record.Recorder
	load  *workload.Load
}

// run is the round. The cluster ends with tb.
func (x *round) run(tb testing.TB) (err error) {
	if x.arena, err = x.config.Start(tb, x.config.Nodes); err != nil {
		return err
	}
	x.rec = record.New(x.config.Seed)
	seen := watch(x.arena)
	x.load = workload.Start(x.arena, x.rec, workload.Config{
		Seed: x.r.Uint64(), Clients: x.config.Clients, Generation: 60 * int64(x.config.Clients), Patience: patience,
	})
	began := time.Now()
	err = x.faults(began)
	x.report.Took += time.Since(began)
	x.load.Stop()
	x.report.Leaders += seen.end()
	x.report.Calls += int(x.load.Calls())
	x.report.Answered += int(x.load.Answered())
	if err != nil {
		return x.keep(err)
	}
	h, err := x.close()
	var counts verify.Counts
	if err == nil {
		counts, err = verify.All(h)
		x.report.add(counts)
	} else { // what was answered may say why
		err = errors.Join(verify.Plain(x.rec.History(), &counts), err)
	}
	if err != nil {
		return x.keep(err)
	}
	return nil
}

// seen tells whether the effect of each of these kinds was seen so often.
func (r *Report) seen(kinds []int, times int) bool {
	for _, i := range kinds {
		if r.Faults[i].Seen < times {
			return false
		}
	}
	return true
}

func (r *Report) add(c verify.Counts) {
	r.Checked.Entries += c.Entries
	r.Checked.Answers += c.Answers
	r.Checked.Parts += c.Parts
	r.Checked.Operations += c.Operations
	r.Checked.Open += c.Open
}

// faults breaks the cluster and heals it, until the time is up.
func (x *round) faults(began time.Time) error {
	kinds := x.deck.fill(x.arena, x.config.Faults)
	until := began.Add(x.length)
	last := x.report.Took+x.length >= x.config.Duration
	for time.Now().Before(until) || last && time.Since(began) < x.config.Round && !x.report.seen(kinds, x.config.Times) {
		if len(kinds) == 0 {
			time.Sleep(min(100*time.Millisecond, time.Until(until))) // nothing to do but to let clients work
			continue
		}
		f := x.deck.draw()
		if !time.Now().Before(until) && x.report.Faults[f].Seen >= x.config.Times {
			continue // what is left of the time is for the others
		}
		var second *int
		if x.r.IntN(4) == 0 && !x.config.Faults[f].Alone {
			if n := x.deck.draw(); n != f && !x.config.Faults[n].Alone {
				second = &n
			} else {
				x.deck.back(n)
			}
		}
		if err := x.hurt(f, second); err != nil {
			return err
		}
	}
	return nil
}

// hurt does one fault, or two at once, waits for their effects, and heals.
func (x *round) hurt(first int, second *int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*healTime)
	defer cancel()
	if x.config.CutLogs {
		if err := x.ballast(ctx); err != nil {
			x.config.Say("the state is as large as it is: %v", err)
		}
	}
	if x.r.IntN(quietly) == 0 && !x.config.Faults[first].Alone {
		defer x.hush()()
	}
	at := x.rec.Now()
	var wounds []*fault.Wound
	var names []string
	lasts := 200*time.Millisecond + time.Duration(x.r.Int64N(int64(time.Second)))
	for _, i := range both(first, second) {
		f := x.config.Faults[i]
		w, err := f.Inject(ctx, x.arena, x.r)
		if err != nil {
			x.config.Say("%s: not done: %v", f.Name, err)
			x.deck.back(i)
			continue
		}
		x.report.Faults[i].Injected++
		wounds, names = append(wounds, w), append(names, f.Name)
		if w.Quiet != nil { // of a fault that is done alone
			defer x.hush()()
			if err := w.Quiet(ctx); err != nil {
				x.config.Say("%s (%s): %v", f.Name, w.On, err)
				x.deck.back(i)
				continue
			}
		}
		if lasts = max(lasts, w.Lasts); w.Effect != nil {
			if err := x.effect(ctx, i, w, len(wounds) > 1); err != nil {
				return err
			}
		}
	}
	time.Sleep(lasts)                                                   // how long the fault stays
	ctx, cancel = context.WithTimeout(context.Background(), 2*healTime) // however long the faults took
	defer cancel()
	var err error
	for _, w := range wounds {
		if w.Heal != nil {
			err = errors.Join(err, w.Heal(ctx))
		}
	}
	x.rec.Event(at, strings.Join(names, " and "))
	if err != nil {
		return fmt.Errorf("healing %q: %w", names, err)
	}
	if err := x.healthy(ctx); err != nil {
		return fmt.Errorf("after %q: %w", names, err)
	}
	return nil
}

// hush has no client write until end.
func (x *round) hush() (end func()) {
	end = x.load.Quiet()
	x.report.Quiet++
	return end
}

func both(first int, second *int) []int {
	if second == nil {
		return []int{first}
	}
	return []int{first, *second}
}

// effect waits for the effect of a fault. Beside another one it need not come.
// The error is a promise of the product that was not kept.
func (x *round) effect(ctx context.Context, i int, w *fault.Wound, beside bool) error {
	limit := effectTime
	switch {
	case w.Promise != "":
		limit = healTime // what fails the run must not be mere slowness
	case beside:
		limit = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	seen, err := w.Effect(ctx)
	if err != nil {
		x.config.Say("%s (%s): %v", x.config.Faults[i].Name, w.On, err)
		if w.Promise != "" {
			return &verify.Violation{Check: w.Promise, Text: fmt.Sprintf("after %q: %v", x.config.Faults[i].Name, err)}
		}
		return nil
	}
	x.report.Faults[i].Seen++
	x.config.Say("%s (%s): %s", x.config.Faults[i].Name, w.On, seen)
	return nil
}

// healthy waits until all members serve again. None may be under quarantine.
func (x *round) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healTime)
	defer cancel()
	why := ""
	for {
		leader, _, ok := fault.Leader(ctx, x.arena)
		if ok {
			why = x.unready(ctx, leader)
			if why == "" {
				return nil
			}
		} else {
			why = "nobody leads"
		}
		if strings.Contains(why, fault.Outvoted) {
			return &verify.Violation{Check: "digests are equal", Text: why}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster is not whole after %v: %s", healTime, why)
		case <-time.After(20 * time.Millisecond): // between two looks
		}
	}
}

// unready says which member does not serve, and why; empty if all do.
func (x *round) unready(ctx context.Context, leader string) string {
	s, err := fault.Status(ctx, x.arena, leader)
	if err != nil {
		return err.Error()
	}
	serving := 0
	for _, n := range x.arena.Names() {
		if !x.arena.Running(n) {
			continue
		}
		own, err := fault.Status(ctx, x.arena, n)
		if err != nil || own.NotReady != "" {
			return fmt.Sprint(n, ": ", own.NotReady, err)
		}
		serving++
	}
	if serving < len(s.Members) {
		return fmt.Sprintf("%d of %d members run", serving, len(s.Members))
	}
	return ""
}

// keep writes the history of a round that failed into a file, where there is
// something to see.
func (x *round) keep(err error) error {
	v := (*verify.Violation)(nil)
	if !errors.As(err, &v) {
		return err
	}
	path := filepath.Join(x.config.Keep, fmt.Sprintf("history-%d-%d.json.gz", x.config.Seed, x.number))
	if werr := x.rec.History().Write(path); werr != nil {
		return errors.Join(err, werr)
	}
	return &Violation{Check: v.Check, Text: v.Text, File: path}
}
