package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// tuningRound is the round in which batches are tried, before the first.
const tuningRound = -1

// measure measures what the record lacks: first the batches, then round by
// round all systems in an order that is drawn anew.
func (c *comparison) measure(ctx context.Context) error {
	plan := c.record.Plan
	for _, s := range plan.Subjects {
		cells, err := tries(s)
		if err != nil {
			return err
		}
		if err := c.job(ctx, s, tuningRound, plan.TuneFor, cells); err != nil {
			return err
		}
	}
	for round := range plan.Rounds {
		for _, i := range plan.order(len(plan.Subjects), round, 0) {
			s := plan.Subjects[i]
			cells, err := c.cells(s, round, i)
			if err != nil {
				return err
			}
			if err := c.job(ctx, s, round, plan.For, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// tries are the batches that are tried for a subject.
func tries(s Subject) (list []results.Cell, err error) {
	system, err := systems.Named(s.System, s.Programs)
	if err != nil {
		return nil, err
	}
	for _, w := range system.Batches() {
		list = append(list, results.Cell{Row: bestBatch, Kind: results.Tune, Work: w})
	}
	return list, nil
}

// cells are the cells of a subject in a round in the order that is drawn for
// it; kills come last, since what they leave behind would be measured too.
func (c *comparison) cells(s Subject, round, subject int) (list []results.Cell, err error) {
	plan := c.record.Plan
	var last []results.Cell
	for _, i := range plan.order(len(plan.Cells), round, 1+subject) {
		cell := plan.Cells[i]
		if cell.Row == bestBatch {
			if cell.Work, err = c.record.best(s.Label); err != nil {
				return nil, err
			}
		}
		if cell.Kind == results.Gap {
			last = append(last, cell)
		} else {
			list = append(list, cell)
		}
	}
	return append(list, last...), nil
}

// best is the work whose try gave the most.
func (r *Record) best(label string) (best systems.Work, err error) {
	most := 0.0
	for _, have := range r.Results {
		if have.Label == label && have.Kind == results.Tune && have.Values[0] > most {
			best, most = have.Work, have.Values[0]
		}
	}
	if most == 0 {
		return best, fmt.Errorf("%s: no batch was answered in time", label)
	}
	return best, nil
}

// job has the cells that the record lacks measured by a process of their own.
func (c *comparison) job(ctx context.Context, s Subject, round int, long time.Duration, cells []results.Cell) error {
	job := results.Job{Label: s.Label, System: s.System, Programs: s.Programs, Dir: filepath.Join(c.run, s.Label), Round: round, Warm: c.record.Plan.Warm, For: long}
	for _, cell := range cells {
		if !c.record.has(s.Label, round, cell) {
			job.Cells = append(job.Cells, cell)
		}
	}
	if len(job.Cells) == 0 {
		return nil
	}
	if err := errors.Join(os.RemoveAll(job.Dir), os.MkdirAll(job.Dir, 0o700)); err != nil {
		return err
	}
	disk, err := probe(job.Dir, round)
	if err != nil {
		return fmt.Errorf("probing the disk: %w", err)
	}
	if err := c.record.write(line{Disk: &disk}); err != nil {
		return err
	}
	if err := c.drive(ctx, s, job); err != nil {
		return fmt.Errorf("%w (logs: %s; what was measured is kept, and the same command goes on there)", err, job.Dir)
	}
	return os.RemoveAll(job.Dir)
}

// drive runs the process of a job and keeps its results as they come.
func (c *comparison) drive(ctx context.Context, s Subject, job results.Job) error {
	text, err := json.Marshal(job)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, s.Drive)
	cmd.Stderr = os.Stderr
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
	_, said := in.Write(append(text, '\n'))
	for lines := bufio.NewScanner(out); lines.Scan() && said == nil; {
		said = c.keep(lines.Bytes())
	}
	closed := in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", s.Label, errors.Join(err, said))
	}
	return errors.Join(said, closed)
}

func (c *comparison) keep(text []byte) error {
	var r results.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("a result that can't be read: %w", err)
	}
	c.say("%s", progress(r, c.record.Plan.Rounds))
	return c.record.write(line{Result: &r})
}

// progress tells a result on one line.
func progress(r results.Result, rounds int) string {
	where := fmt.Sprintf("round %d of %d", r.Round+1, rounds)
	if r.Round == tuningRound {
		where = "trying batches"
	}
	text := fmt.Sprintf("%s: %s: %s (%s): %s", where, r.Label, r.Row, r.Work, figures(r.Kind, r.Values))
	if len(r.Values) == 0 {
		text += r.Failure
	}
	if r.Failed > 0 {
		text += fmt.Sprintf("; %d requests failed, the last: %s", r.Failed, r.Failure)
	}
	return text
}
