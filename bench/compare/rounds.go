package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// tuningRound is the round in which batches are tried, before the first;
// afterRound is that of what is measured once, after the last.
const (
	tuningRound = -1
	afterRound  = -2
)

// measure measures what the record lacks: first the batches, then round by
// round all systems in an order that is drawn anew, then their recovery.
func (c *comparison) measure(ctx context.Context) error {
	plan := c.record.Plan
	for _, s := range plan.Subjects {
		if err := c.job(ctx, s, results.Job{Round: tuningRound, For: plan.TuneFor, Cells: tries(s)}); err != nil {
			return err
		}
	}
	for round := range plan.Rounds {
		for _, i := range plan.order(len(plan.Subjects), round, 0) {
			s := plan.Subjects[i]
			if err := c.job(ctx, s, results.Job{Round: round, For: plan.For, Cells: c.cells(s, round, i)}); err != nil {
				return err
			}
		}
	}
	for _, i := range plan.order(len(plan.Subjects), afterRound, 0) {
		s := plan.Subjects[i]
		if !plan.recovers(s) {
			continue
		}
		fill := plan.Fill
		if best, ok := c.record.best(s.Label); ok {
			fill.Work.Way = best.Way
		}
		if err := c.job(ctx, s, results.Job{Round: afterRound, Fill: fill, Cells: plan.After}); err != nil {
			return err
		}
	}
	return nil
}

// tries are the batches that are tried for a subject.
func tries(s Subject) (list []results.Cell) {
	for _, w := range s.system().Batches() {
		list = append(list, results.Cell{Row: bestBatch, Kind: results.Tune, Work: w})
	}
	return list
}

// cells are the cells of a subject in a round in the order that is drawn for
// it; kills come last, since what they leave behind would be measured too. A
// best batch that is not known has no callers.
func (c *comparison) cells(s Subject, round, subject int) (list []results.Cell) {
	plan := c.record.Plan
	var last []results.Cell
	for _, i := range plan.order(len(plan.Cells), round, 1+subject) {
		cell := plan.Cells[i]
		if best, ok := c.record.best(s.Label); ok && cell.Row == bestBatch {
			cell.Work = best
		}
		if cell.Kind == results.Gap {
			last = append(last, cell)
		} else {
			list = append(list, cell)
		}
	}
	return append(list, last...)
}

// best is the work whose try gave the most; ok tells whether one gave anything.
func (r *Record) best(label string) (best systems.Work, ok bool) {
	most := 0.0
	for _, have := range r.Results {
		if have.Label == label && have.Kind == results.Tune && len(have.Values) > 0 && have.Values[0] > most {
			best, most = have.Work, have.Values[0]
		}
	}
	return best, most > 0
}

// drive runs the process of a job and keeps its results as they come.
func (c *comparison) drive(ctx context.Context, s Subject, job results.Job) error {
	text, err := json.Marshal(job)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.Drive)
	var said tail
	cmd.Stderr = io.MultiWriter(os.Stderr, &said)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is ours to pass on
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, kept := in.Write(append(text, '\n'))
	for lines := bufio.NewScanner(out); lines.Scan() && kept == nil; {
		kept = c.keep(lines.Bytes())
	}
	closed := in.Close()
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && kept == nil && ctx.Err() == nil {
		return &failure{said: said.String(), err: err}
	}
	return errors.Join(kept, closed, err)
}

func (c *comparison) keep(text []byte) error {
	var r results.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("a result that can't be read: %w", err)
	}
	c.say("%s", progress(r))
	return c.record.write(line{Result: &r})
}

// roundName names a round for people.
func roundName(round int) string {
	switch round {
	case tuningRound:
		return "trying batches"
	case afterRound:
		return "recovery"
	default:
		return fmt.Sprintf("round %d", round+1)
	}
}

// progress tells a result on one line.
func progress(r results.Result) string {
	text := fmt.Sprintf("%s: %s: %s", roundName(r.Round), r.Label, r.Row)
	if r.Work.Callers > 0 {
		text += fmt.Sprintf(" (%s)", r.Work)
	}
	text += ": " + figures(r.Kind, r.Values)
	if r.LeftOut != "" {
		text += "LEFT OUT: " + r.LeftOut
	} else if len(r.Values) == 0 {
		text += r.Failure
	}
	if r.Failed > 0 {
		text += fmt.Sprintf("; %d requests failed, the last: %s", r.Failed, r.Failure)
	}
	return text
}
