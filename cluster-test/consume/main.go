// Command consume runs a share of the story's consumers: each owns four
// queues of a group of the imported file, commits ever larger offsets of them through
// client.RemoteStore, and appends what it was told to a file of its own.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

type flags struct {
	Endpoints []string      `help:"API addresses of the cluster." required:""`
	File      string        `help:"The imported offset file; its groups are consumed." required:""`
	Broker    string        `help:"The broker it was imported for." required:""`
	Consumers int           `help:"Consumers in all." default:"50"`
	Share     string        `help:"Which of them run here: I/N, I from 1." default:"1/1"`
	Dir       string        `help:"Where the files go." required:""`
	Pace      time.Duration `help:"Least time between two commits of one consumer." default:"5ms"`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Runs consumers that note what was acknowledged."))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "consume:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	var share, shares int
	if _, err := fmt.Sscanf(f.Share, "%d/%d", &share, &shares); err != nil || share < 1 || share > shares {
		return fmt.Errorf("share %q is not I/N with I from 1 to N", f.Share)
	}
	file, err := offsetfile.ReadPath(f.File, offsetfile.Options{Broker: f.Broker})
	if err != nil {
		return err
	}
	owned, err := assign(file, f.Consumers)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	c, err := client.New(f.Endpoints, client.WithLogger(logger))
	if err != nil {
		return err
	}
	defer c.Close()
	all, ctx := errgroup.WithContext(ctx)
	for i := share - 1; i < len(owned); i += shares {
		name := fmt.Sprintf("c%02d", i)
		all.Go(func() error {
			if err := consume(ctx, c, owned[i], f, name); err != nil {
				return fmt.Errorf("%s (%s): %w", name, owned[i].Group, err)
			}
			return nil
		})
	}
	return all.Wait()
}
