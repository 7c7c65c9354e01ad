// Command embedded is a consumer that keeps its offsets itself: on its own
// disk, in a node inside this process, without a port. Run again, also after
// kill -9, it goes on where it was. With --api and --peer the same folder is
// the first member of a cluster: docs/embedded.md tells how it grows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/embedded"
	"github.com/tidemark-mq/tidemark/offset"
)

func main() {
	data := flag.String("data", "offsets", "folder of the offsets")
	api := flag.String("api", "", "address for clients and operators, host:port")
	peer := flag.String("peer", "", "address for other members, host:port")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *data, *api, *peer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run opens the node, and consumes until ctx ends or the node does.
func run(ctx context.Context, out io.Writer, data, api, peer string) (err error) {
	opts := []embedded.Option{embedded.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil)))}
	if api != "" {
		opts = append(opts, embedded.WithListen(api, peer))
	}
	n, err := embedded.Open(ctx, data, opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	s, err := client.NewRemoteStore(n.Client(), "billing", client.WithPersistInterval(0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed(s)) }() // before the node is
	return consume(ctx, out, n, s)
}

// closed persists what is left, also after Ctrl-C has ended all other calls.
func closed(s *client.RemoteStore) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.Close(ctx)
}

// consume takes messages, which stand for themselves here, and says which
// offsets are acknowledged: none of these is ever lost.
func consume(ctx context.Context, out io.Writer, n *embedded.Node, s *client.RemoteStore) error {
	mq := offset.MessageQueue{Topic: "orders", QueueID: 0}
	next, err := s.ReadOffset(ctx, mq, client.ReadFromStore)
	if err != nil && !errors.Is(err, offset.ErrNoOffset) {
		return err
	}
	fmt.Fprintln(out, "begins at", next)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.Done():
			return nil // Close tells why
		case <-time.After(10 * time.Millisecond): // a message
		}
		next++
		s.UpdateOffset(mq, next, true)
		if err := s.Persist(ctx, mq); ctx.Err() != nil {
			return nil // closing the store persists what is left
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err) // the next run sends it again
			continue
		}
		fmt.Fprintln(out, "acknowledged", next)
	}
}
