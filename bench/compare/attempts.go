package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// attempts is how often a system is started for its cells of a round, each time
// anew on an empty folder, before those that are left are left out.
const attempts = 3

// heat is how long a Java server is loaded after its start before anything counts.
const heat = 20 * time.Second

// failure is the end of a process that drove a system: the system could not be
// started, or made ready for a work, or did not answer. Other errors are the
// comparison's own.
type failure struct {
	said string
	err  error
}

// Error is what the process said last, on one line: it begins that with its name.
func (f *failure) Error() string {
	at := strings.LastIndex(f.said, sayer)
	if at < 0 {
		return f.err.Error()
	}
	return strings.ReplaceAll(strings.TrimSpace(f.said[at+len(sayer):]), "\n", "; ")
}

// sayer begins the last words of drive.
const sayer = "drive: "

func (f *failure) Unwrap() error { return f.err }

// tail is a writer that keeps the end of what is written.
type tail struct{ bytes.Buffer }

// tailBytes is how much is kept.
const tailBytes = 2000

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	t.Next(max(0, t.Len()-tailBytes))
	return n, err
}

// job has the cells that the record lacks measured by a process of their own. A
// system that fails is tried again with what is left, and then left out of the
// round.
func (c *comparison) job(ctx context.Context, s Subject, job results.Job) error {
	job.Label, job.System, job.Programs, job.Warm = s.Label, s.System, s.Programs, c.record.Plan.Warm
	job.Dir = filepath.Join(c.run, s.Label)
	if systems.All[s.System].Set != "" {
		job.Heat = heat // a JVM compiles while it runs
	}
	untried := slices.IndexFunc(job.Cells, func(cell results.Cell) bool { return cell.Row == bestBatch && cell.Work.Callers == 0 })
	if untried >= 0 {
		if err := c.leaveOut(s, job.Round, job.Cells[untried:untried+1], "no batch was answered when they were tried"); err != nil {
			return err
		}
	}
	for n := 1; ; n++ {
		job.Cells = c.record.lacks(s.Label, job.Round, job.Cells)
		if len(job.Cells) == 0 {
			return nil
		}
		err := c.attempt(ctx, s, job)
		var failed *failure
		if !errors.As(err, &failed) {
			return err
		}
		if n == attempts {
			return c.leaveOut(s, job.Round, job.Cells, failed.Error())
		}
		c.say("%s: %s: failed and is tried again on an empty folder, %d of %d: %v", roundName(job.Round), s.Label, n+1, attempts, failed)
	}
}

// attempt measures cells once, after a look at the disk.
func (c *comparison) attempt(ctx context.Context, s Subject, job results.Job) error {
	if err := errors.Join(os.RemoveAll(job.Dir), os.MkdirAll(job.Dir, 0o700)); err != nil {
		return err
	}
	disk, err := c.probe(job.Dir, job.Round)
	if err != nil {
		return fmt.Errorf("probing the disk: %w", err)
	}
	if err := c.record.write(line{Disk: &disk}); err != nil {
		return err
	}
	if job.Fill.Offsets > 0 {
		c.say("%s: %s: storing %s offsets, which takes minutes", roundName(job.Round), s.Label, thousands(float64(job.Fill.Offsets)))
	}
	err = c.drive(ctx, s, job)
	var failed *failure
	switch {
	case errors.As(err, &failed):
		return errors.Join(err, c.keepLogs(job))
	case err != nil:
		return err
	default:
		return os.RemoveAll(job.Dir)
	}
}

// keepLogs moves the logs of a failed attempt to where the next does not delete
// them; those of an earlier one of the round are replaced.
func (c *comparison) keepLogs(job results.Job) error {
	to := filepath.Join(c.run, "failed", fmt.Sprintf("%s-%s", job.Label, strings.ReplaceAll(roundName(job.Round), " ", "-")))
	logs, err := filepath.Glob(filepath.Join(job.Dir, "*.log"))
	if err != nil || len(logs) == 0 {
		return err
	}
	err = os.MkdirAll(to, 0o700)
	for _, log := range logs {
		err = errors.Join(err, os.Rename(log, filepath.Join(to, filepath.Base(log))))
	}
	c.say("its logs are in %s", to)
	return err
}

// leaveOut notes why cells are not measured in a round.
func (c *comparison) leaveOut(s Subject, round int, cells []results.Cell, why string) error {
	durability := s.system().Durability()
	for _, cell := range c.record.lacks(s.Label, round, cells) {
		r := results.Result{Label: s.Label, Round: round, Cell: cell, Durability: durability.Of(cell.Work.Op), LeftOut: why}
		c.say("%s", progress(r))
		if err := c.record.write(line{Result: &r}); err != nil {
			return err
		}
	}
	return nil
}
