package main

import (
	"context"
	"errors"
	"time"

	"github.com/tidemark-mq/tidemark/bench/paced"
	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// open measures what callers reach who wait for their answers, and then has
// half as many requests begin when they are due, whether or not earlier ones
// have been answered. Each counts from when it was due: so a pause shows in all
// that fall into it, which callers that wait would leave out.
func open(ctx context.Context, load systems.Load, job results.Job, r *results.Result) error {
	if err := rate(ctx, load, job.Warm, job.For/2, r); err != nil {
		return err
	}
	requests := r.Values[0] / float64(r.Work.Batch) / 2
	if requests <= 0 {
		return errors.New("no request was answered in time")
	}
	every := time.Duration(float64(time.Second) / requests)
	callers := turnsOf(r.Work.Callers)
	l := paced.Start(ctx, every, func(ctx context.Context, _ int) error {
		return callers.take(func(caller int) error { // to wait for one counts too
			call, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return load.Do(call, caller)
		})
	})
	select {
	case <-time.After(job.For):
	case <-ctx.Done():
	}
	failed, last := l.Stop()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if r.Failed += int(failed); last != nil { // beside those of the rate
		r.Failure = last.Error()
	}
	took := l.Took.Take()
	r.Values = []float64{requests * float64(r.Work.Batch)}
	r.P50, r.P99, r.Most = took.Of(0.5), took.Of(0.99), took.Of(1)
	return nil
}
