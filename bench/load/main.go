// Command load measures how many commits and reads a cluster of three
// processes on this machine takes from callers that share one Client.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
)

type flags struct {
	Run   string        `help:"Folder of the cluster; deleted at the end." default:".run/bench"`
	Bin   string        `help:"Where tidemarkd and tidemark lie." default:"bin" type:"path"`
	Port  int           `help:"First port." default:"8111"`
	For   time.Duration `help:"How long one run takes." default:"5s"`
	Runs  int           `help:"Runs of each case; the median counts." default:"3"`
	Cases []string      `help:"What to measure, each as commit:CALLERS:BATCH or read:CALLERS:BATCH." default:"commit:1:1,commit:64:1,commit:256:1,commit:16:100,commit:8:1000,commit:4:10000,read:1:1,read:64:1"`
	Cpu   string        `help:"Write a CPU profile of the leader during the first run of each case to PREFIX-CASE." placeholder:"PREFIX"`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Measures commits and reads a second. Prints rows of a markdown table."))
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(f flags) (err error) {
	var cases []work
	for _, text := range f.Cases {
		w, err := parse(text)
		if err != nil {
			return err
		}
		cases = append(cases, w)
	}
	cluster := &nodes.Cluster{Run: f.Run, Bin: f.Bin, Port: f.Port}
	defer func() {
		if end := cluster.Close(); err == nil {
			err = end
		}
	}()
	if err := cluster.Up(); err != nil {
		return err
	}
	for _, w := range cases {
		if err := measure(f, cluster, w); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	return nil
}

// result is what one run gave.
type result struct {
	// rate is keys a second.
	rate float64
	took latency.Sorted
}

// measure prints the row of one case.
func measure(f flags, cluster *nodes.Cluster, w work) error {
	var results []result
	for i := range f.Runs {
		stop := func() error { return nil }
		if f.Cpu != "" && i == 0 {
			stop = profiled(cluster, f, w)
		}
		r, err := once(cluster, w, f.For)
		if err != nil {
			return err
		}
		if err := stop(); err != nil {
			return err
		}
		results = append(results, r)
	}
	slices.SortFunc(results, func(a, b result) int { return int(a.rate - b.rate) })
	m := results[len(results)/2]
	fmt.Printf("| load: %s | %.0f/s (%.0f to %.0f), p50 %v, p99 %v, max %v |\n", w, m.rate, results[0].rate, results[len(results)-1].rate,
		latency.Round(m.took.Of(0.5)), latency.Round(m.took.Of(0.99)), latency.Round(m.took.Of(1)))
	return nil
}

// profiled takes a profile of the leader meanwhile; the result waits for it.
func profiled(cluster *nodes.Cluster, f flags, w work) func() error {
	done := make(chan error, 1)
	go func() { // the result waits for it
		leader, err := cluster.Leader()
		if err == nil {
			err = cluster.Profile(context.Background(), leader, max(int(f.For.Seconds())-1, 1), fmt.Sprintf("%s-%s-%d-%d", f.Cpu, w.what, w.callers, w.batch))
		}
		done <- err
	}()
	return func() error { return <-done }
}
