// Consumer is a consumer whose offsets are in a Tidemark cluster. It makes its
// messages up: what matters is what it does around them.
//
//	go run ./examples/consumer --endpoints 127.0.0.1:7411 --group billing
//
// It begins where the group is, consumes with several workers, begins anew
// where an operator moves it (try "tidemark group reset"), and persists the
// rest at Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

func main() {
	endpoints := flag.String("endpoints", "127.0.0.1:7411", "API addresses of the cluster, with commas between")
	group := flag.String("group", "billing", "the consumer group")
	topic := flag.String("topic", "orders", "the topic")
	queues := flag.Int("queues", 2, "how many queues of the topic are ours")
	pause := flag.Duration("pause", 100*time.Millisecond, "how long a message takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	a := &app{topic: *topic, queues: int32(*queues), pause: *pause, say: func(s string) { fmt.Println(s) }}
	if err := a.run(ctx, strings.Split(*endpoints, ","), *group); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

// app is the consumer.
type app struct {
	topic  string
	queues int32
	pause  time.Duration
	say    func(string)
	store  *client.RemoteStore
	// moved names the queues that an operator has moved.
	moved chan offset.MessageQueue
}

// run consumes until ctx ends.
func (a *app) run(ctx context.Context, endpoints []string, group string) (err error) {
	c, err := client.New(endpoints)
	if err != nil {
		return err
	}
	defer c.Close()
	a.moved = make(chan offset.MessageQueue, a.queues)
	a.store, err = client.NewRemoteStore(c, group, client.WithOnFenced(func(f client.Fence) { a.moved <- f.Queue }))
	if err != nil {
		return err
	}
	stops := map[offset.MessageQueue]func(){}
	for id := range a.queues {
		mq := offset.MessageQueue{Topic: a.topic, Broker: "broker-a", QueueID: id}
		stops[mq] = a.start(ctx, mq)
	}
	for ctx.Err() == nil {
		select {
		case mq := <-a.moved: // begin again, where the operator wants it
			stops[mq]()
			a.store.RemoveOffset(mq)
			stops[mq] = a.start(ctx, mq)
		case <-ctx.Done():
		}
	}
	for _, stop := range stops {
		stop()
	}
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return a.store.Close(last)
}

// start consumes a queue in a goroutine; what it returns ends that, and waits.
func (a *app) start(ctx context.Context, mq offset.MessageQueue) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.consume(ctx, mq)
	}()
	return func() { cancel(); <-done }
}

func (a *app) consume(ctx context.Context, mq offset.MessageQueue) {
	next, err := a.begin(ctx, mq)
	for ; err != nil; next, err = a.begin(ctx, mq) {
		a.say(fmt.Sprintf("%s/%d: %v", mq.Topic, mq.QueueID, err)) // not known: never begin anywhere then
		if !rest(ctx, time.Second) {
			return
		}
	}
	a.say(fmt.Sprintf("%s/%d begins at %d", mq.Topic, mq.QueueID, next))
	flying := client.NewProcessQueue[string](client.WithCommitTo(a.store, mq))
	work := make(chan int64)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for at := range work {
				flying.Complete(at) // in any order; the safe offset goes to the store
			}
		})
	}
	defer func() {
		close(work)
		workers.Wait()
		flying.Drop() // from here on nothing of this queue reaches the store
	}()
	for ; rest(ctx, a.pause); next++ {
		if _, err := flying.Put(client.InFlight[string]{Offset: next, Message: "made up"}); err != nil {
			a.say(err.Error())
			return
		}
		select {
		case work <- next:
		case <-ctx.Done():
			return
		}
	}
}

// begin asks where a queue begins. A call tries again until its context ends,
// so it has a deadline: else a cluster that is away would be waited for without
// a word.
func (a *app) begin(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return client.StartPosition(ctx, a.store, source{}, mq, client.Start{From: client.FromFirst})
}

// rest waits; false: ctx has ended.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// source knows the ends of the queues, as a broker would.
type source struct{}

func (source) MaxOffset(context.Context, offset.MessageQueue) (int64, error) { return 0, nil }

func (source) SearchOffset(context.Context, offset.MessageQueue, time.Time) (int64, error) {
	return 0, nil
}
