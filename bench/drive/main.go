// Command drive runs one system and measures it: it reads a job from standard
// input and prints results as they come. Bench's compare starts it, anew for
// each system and round, so that no system has another's garbage in its way;
// a client of an older Tidemark is measured by a drive that was built with it.
//
// It ends with its input: whoever started it keeps that open.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	input := bufio.NewReader(in)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	var job results.Job
	if err := json.Unmarshal(line, &job); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	system, err := systems.Named(job.System, job.Programs)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // it ends with the process
		_, _ = io.Copy(io.Discard, input) // that it ended is all that matters
		cancel(errors.New("the program that asked for this has ended"))
	}()
	return drive(ctx, system, job, json.NewEncoder(out).Encode)
}

// drive measures the cells of a job one after another, and tells each.
func drive(ctx context.Context, system systems.System, job results.Job, tell func(any) error) (err error) {
	defer func() { err = errors.Join(err, system.Stop()) }()
	if err := system.Start(ctx, job.Dir); err != nil {
		return fmt.Errorf("starting %s: %w", job.Label, err)
	}
	if err := heat(ctx, system, job.Heat); err != nil {
		return fmt.Errorf("%s, warming it up: %w", job.Label, err)
	}
	if err := store(ctx, system, job.Fill); err != nil {
		return fmt.Errorf("%s, storing %d offsets: %w", job.Label, job.Fill.Offsets, err)
	}
	for _, cell := range job.Cells {
		r := results.Result{Label: job.Label, Round: job.Round, Cell: cell, Durability: system.Durability().Of(cell.Work.Op)}
		if err := measure(ctx, system, job, &r); err != nil {
			return fmt.Errorf("%s, %s (%s): %w", job.Label, cell.Row, cell.Work, err)
		}
		if err := tell(r); err != nil {
			return err
		}
	}
	return nil
}

// preparation bounds what a work needs before it begins: some clients have
// shorter deadlines of their own where they are given none.
const preparation = 2 * time.Minute

// measure fills a result; one that the system does not offer stays without values.
func measure(ctx context.Context, system systems.System, job results.Job, r *results.Result) (err error) {
	switch r.Kind {
	case results.Size:
		r.Values, err = size(job.Dir)
	case results.NodeBack:
		r.Values, err = nodeBack(ctx, system, r.Kills)
	case results.AllBack:
		r.Values, err = allBack(ctx, system, r.Kills)
	default:
		err = underLoad(ctx, system, job, r)
	}
	if errors.Is(err, systems.ErrNotOffered) {
		r.Values, r.Failure = nil, systems.ErrNotOffered.Error()
		return nil
	}
	return err
}

func underLoad(ctx context.Context, system systems.System, job results.Job, r *results.Result) error {
	load, err := prepare(ctx, system, r.Work)
	if err != nil {
		return err
	}
	return errors.Join(fill(ctx, system, load, job, r), load.Close())
}

// prepare makes the clients of a work, and writes what it needs.
func prepare(ctx context.Context, system systems.System, w systems.Work) (systems.Load, error) {
	ctx, cancel := context.WithTimeout(ctx, preparation)
	defer cancel()
	load, err := system.Workload(ctx, w)
	if err != nil && !errors.Is(err, systems.ErrNotOffered) {
		err = fmt.Errorf("preparing the work: %w", err)
	}
	return load, err
}

func fill(ctx context.Context, system systems.System, load systems.Load, job results.Job, r *results.Result) error {
	switch r.Kind {
	case results.Gap:
		return gaps(ctx, system, load, r)
	case results.Open:
		return open(ctx, load, job, r)
	default:
		return rate(ctx, load, job.Warm, job.For, r)
	}
}
