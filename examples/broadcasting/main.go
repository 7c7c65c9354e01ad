// Broadcasting is a consumer that gets all messages and keeps its offsets on
// its own disk, where RocketMQ's clients keep theirs.
//
//	go run ./examples/broadcasting --dir /tmp/offsets
//
// Run it twice: the second run goes on where the first one ended.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

func main() {
	dir := flag.String("dir", "", "folder of the offsets; empty is RocketMQ's, ~/.rocketmq_offsets")
	group := flag.String("group", "screens", "the consumer group")
	n := flag.Int("n", 10, "how many messages to consume")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *dir, *group, *n); err != nil {
		fmt.Fprintln(os.Stderr, "broadcasting:", err)
		os.Exit(1)
	}
}

// run consumes n messages that it makes up.
func run(ctx context.Context, out io.Writer, dir, group string, n int) (err error) {
	store, err := client.NewStore(client.Broadcasting, client.StoreConfig{
		ClientID: client.LocalClientID("127.0.0.1", "", ""),
		Group:    group,
		Options:  []client.StoreOption{client.WithLocalDir(dir)},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(ctx)) }() // persists the rest
	if err := store.Load(); err != nil {
		return err // damaged files are named, and never overwritten
	}
	mq := offset.MessageQueue{Topic: "prices", Broker: "broker-a"}
	next, err := store.ReadOffset(ctx, mq, client.MemoryFirstThenStore)
	if errors.Is(err, offset.ErrNoOffset) {
		next, err = 0, nil // it begins here for the first time
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "begins at", next)
	for range n {
		next++ // here a message would be consumed
		store.UpdateOffset(mq, next, true)
	}
	fmt.Fprintln(out, "ends at", next)
	return nil
}
