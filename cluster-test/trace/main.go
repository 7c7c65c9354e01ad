// Command trace proves that an acknowledgement means "synced on a quorum". It
// commits one offset at a time, then reads what strace saw of every node, and
// demands for each commit a completed fdatasync, begun after the commit was
// sent and ended before it was acknowledged, on a quorum of the nodes.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

type flags struct {
	Endpoints []string      `help:"API addresses of the cluster." required:""`
	Traces    string        `help:"Pattern of the files that strace -f -ttt -T writes, one a node." required:""`
	Duration  time.Duration `help:"How long to commit." default:"30s"`
	Least     int           `help:"How many commits at the least; for up to a minute more on slow disks."`
}

// patience is how much longer than Duration it may take until Least are there.
const patience = time.Minute

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Compares acknowledgements with the fdatasync calls of the nodes."))
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

// span is a stretch of time, in Unix seconds.
type span struct{ begin, end float64 }

func run(f flags) error {
	samples, err := sample(f)
	if err != nil {
		return err
	}
	paths, err := filepath.Glob(f.Traces)
	if err != nil || len(paths) == 0 {
		return errors.Join(err, fmt.Errorf("no file matches %q", f.Traces))
	}
	var nodes [][]span
	for _, p := range paths {
		syncs, err := readSyncs(p)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d completed fdatasync calls\n", filepath.Base(p), len(syncs))
		nodes = append(nodes, syncs)
	}
	quorum := len(nodes)/2 + 1
	bad := 0
	for _, s := range samples {
		if synced(nodes, s) < quorum {
			bad++
		}
	}
	fmt.Printf("sampled acknowledgements %d, without an fdatasync on %d of %d nodes before it: %d\n", len(samples), quorum, len(nodes), bad)
	if bad > 0 {
		return fmt.Errorf("%d of %d acknowledgements came before a quorum had synced", bad, len(samples))
	}
	return nil
}

// synced counts the nodes with a sync that lies within s.
func synced(nodes [][]span, s span) int {
	n := 0
	for _, syncs := range nodes {
		for _, y := range syncs {
			if y.begin >= s.begin && y.end <= s.end {
				n++
				break
			}
		}
	}
	return n
}

// sample commits ever larger offsets, one after the other.
func sample(f flags) ([]span, error) {
	c, err := client.New(f.Endpoints)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), f.Duration+patience+30*time.Second)
	defer cancel()
	k := offset.Key{Group: "traced", MessageQueue: offset.MessageQueue{Topic: "traced"}}
	states, meta, err := c.Fetch(ctx, offset.ReadAt{}, k)
	if err != nil {
		return nil, err
	}
	var list []span
	next := states[0].Position.Offset
	for start := time.Now(); time.Since(start) < f.Duration || len(list) < f.Least && time.Since(start) < f.Duration+patience; {
		next++
		begin := now()
		v, _, err := c.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: next, Epoch: states[0].Epoch}})
		if err != nil {
			return nil, err
		}
		if v[0].Code != offset.CodeOK {
			return nil, fmt.Errorf("commit of %d: %w", next, v[0].Code.Err())
		}
		list = append(list, span{begin, now()})
	}
	return list, nil
}

func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }
