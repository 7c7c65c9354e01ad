// Command queues fills a cluster of three processes on this machine with
// millions of queues, 16 to a topic, with names of 40 bytes, and measures what
// they cost: memory, snapshots beside commits, restarts.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

type flags struct {
	Run    string        `help:"Folder of the cluster; deleted at the end." default:".run/bench-queues"`
	Bin    string        `help:"Where tidemarkd and tidemark lie." default:"bin" type:"path"`
	Port   int           `help:"First port." default:"8311"`
	Queues int           `help:"How many queues." default:"10000000"`
	For    time.Duration `help:"How long commits are measured without a snapshot." default:"20s"`
	Rate   int           `help:"Commits of 96 offsets a second beside the snapshots." default:"100"`
	Tail   int           `help:"Megabytes of log after the snapshot, for the second restart." default:"100"`
	Keep   bool          `help:"Leave the cluster running at the end; take it down with cluster.sh clean."`
	Cpu    string        `help:"Write a CPU profile of the leader while it writes its snapshot." placeholder:"FILE"`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Measures millions of queues. Prints rows of a markdown table."))
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "queues:", err)
		os.Exit(1)
	}
}

// trial is what the steps share.
type trial struct {
	flags
	cluster *nodes.Cluster
	client  *client.Client
	id      offset.ClusterID
	topics  int
	// longest is the longest batch of Apply that a leader has told of, replay
	// that of any other node.
	longest, replay float64
}

func run(f flags) (err error) {
	t := &trial{flags: f, topics: f.Queues / perTopic}
	t.cluster = &nodes.Cluster{Run: f.Run, Bin: f.Bin, Port: f.Port, Env: []string{"TIDEMARK_SNAPSHOT_LOG_BYTES=8GiB"}}
	defer func() {
		if t.Keep {
			return
		}
		if end := t.cluster.Close(); err == nil {
			err = end
		}
	}()
	if err := t.cluster.Up(); err != nil {
		return err
	}
	if t.client, err = t.cluster.Client(); err != nil {
		return err
	}
	defer t.client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if t.id, err = nodes.Identity(ctx, t.client); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{t.fill, t.snapshots, t.restarts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	row("longest Apply in all of this: leader; others, who catch up by up to 16 entries at once", "%.1f ms; %.1f ms", 1e3*t.longest, 1e3*t.replay)
	return nil
}

// row prints a row of the table.
func row(what, format string, args ...any) {
	fmt.Printf("| queues: %s | %s |\n", what, fmt.Sprintf(format, args...))
}

func round(d time.Duration) time.Duration { return latency.Round(d) }

// applied notes the longest Apply so far; a restart forgets it.
func (t *trial) applied(ctx context.Context) error {
	for _, n := range nodes.Names {
		m, err := t.cluster.Metrics(ctx, n)
		if err != nil {
			return err
		}
		if took := m["tidemark_apply_longest_seconds"]; m["tidemark_leader"] == 1 {
			t.longest = max(t.longest, took)
		} else {
			t.replay = max(t.replay, took)
		}
	}
	return nil
}

// follower is a node that does not lead.
func (t *trial) follower() (string, error) {
	leader, err := t.cluster.Leader()
	for _, n := range nodes.Names {
		if n != leader {
			return n, err
		}
	}
	return "", err
}
