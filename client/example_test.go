package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// node gives the API addresses of a cluster: here of a node in this process.
func node() (seeds []string, stop func()) {
	seeds, stop, err := client.StartNode()
	if err != nil {
		log.Fatal(err)
	}
	return seeds, stop
}

// A consumer reads where a queue's progress is, consumes from there, says how
// far it came, and persists the rest in the end.
func Example() {
	seeds, stop := node()
	defer stop()
	// A call tries again for as long as its context lasts.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	c, err := client.New(seeds)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	store, err := client.NewRemoteStore(c, "billing")
	if err != nil {
		log.Fatal(err)
	}
	mq := offset.MessageQueue{Topic: "orders", Broker: "broker-a", QueueID: 3}
	next, err := store.ReadOffset(ctx, mq, client.ReadFromStore)
	if errors.Is(err, offset.ErrNoOffset) {
		next, err = 0, nil // a new group begins where it wants to
	}
	if err != nil {
		log.Fatal(err) // it could not be asked: do not consume, try again
	}
	for range 42 { // messages
		next++
		store.UpdateOffset(mq, next, true) // the persist loop sends it within a second
	}
	if err := store.Close(ctx); err != nil { // persists the rest
		log.Fatal(err)
	}

	states, _, err := c.Fetch(ctx, offset.ReadAt{}, offset.Key{Group: "billing", MessageQueue: mq})
	fmt.Println(states[0].Position.Offset, err)
	// Output: 42 <nil>
}

// Without a store: read a key, commit under the epoch that was read, read again.
func ExampleClient() {
	seeds, stop := node()
	defer stop()
	c, err := client.New(seeds)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	key := offset.Key{Group: "billing", MessageQueue: offset.MessageQueue{Topic: "orders"}}
	states, meta, err := c.Fetch(ctx, offset.ReadAt{}, key)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("there is one:", states[0].Exists)
	commit := offset.Commit{Key: key, Offset: 17, Epoch: states[0].Epoch}
	if _, _, err = c.Commit(ctx, meta.Cluster, []offset.Commit{commit}); err != nil {
		log.Fatal(err) // offset.ErrOutcomeUnknown: the same commit may be sent again
	}
	commit.Offset = 16 // a late one never lowers
	verdicts, _, err := c.Commit(ctx, meta.Cluster, []offset.Commit{commit})
	fmt.Println(verdicts[0].State.Position.Offset, err)
	// Output:
	// there is one: false
	// 17 <nil>
}

// An operator resets a queue that this consumer has. Its next persist is
// fenced: the queue is frozen, the application is told, and begins again where
// the operator wants it to.
func ExampleWithOnFenced() {
	seeds, stop := node()
	defer stop()
	ctx := context.Background()
	c, err := client.New(seeds)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	var store *client.RemoteStore
	store, err = client.NewRemoteStore(c, "billing", client.WithPersistInterval(0), client.WithOnFenced(func(f client.Fence) {
		fmt.Printf("queue %d, at %d: %v\n", f.Queue.QueueID, f.Offset, f.Err)
		store.RemoveOffset(f.Queue)
		next, err := store.ReadOffset(ctx, f.Queue, client.ReadFromStore)
		fmt.Println("goes on at", next, err)
	}))
	if err != nil {
		log.Fatal(err)
	}
	mq := offset.MessageQueue{Topic: "orders", QueueID: 3}
	_, err = store.ReadOffset(ctx, mq, client.ReadFromStore)
	fmt.Println(errors.Is(err, offset.ErrNoOffset))
	store.UpdateOffset(mq, 100, true)
	fmt.Println(store.Persist(ctx, mq))

	reset(ctx, c, offset.Key{Group: "billing", MessageQueue: mq}, 40)

	store.UpdateOffset(mq, 101, true)
	fmt.Println(store.Persist(ctx, mq))
	fmt.Println(store.Close(ctx))
	// Output:
	// true
	// <nil>
	// queue 3, at 101: fenced
	// goes on at 40 <nil>
	// offset 101 of orders/3 is not persisted: fenced
	// <nil>
}

// reset moves a key as "tidemark group reset" does.
func reset(ctx context.Context, c *client.Client, key offset.Key, to int64) {
	_, meta, err := c.Fetch(ctx, offset.ReadAt{}, key)
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = c.Act(ctx, offset.Act{
		ID: offset.ActID{1}, Base: meta.Index, Cluster: meta.Cluster,
		Reset: &offset.Reset{Targets: []offset.Target{{Key: key, Offset: to}}},
	})
	if err != nil {
		log.Fatal(err)
	}
}

// What could not be persisted is named, queue by queue.
func ExamplePersistError() {
	seeds, stop := node()
	defer stop()
	c, err := client.New(seeds)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	store, err := client.NewRemoteStore(c, "billing", client.WithPersistInterval(0))
	if err != nil {
		log.Fatal(err)
	}
	store.UpdateOffset(offset.MessageQueue{Topic: "orders", Broker: "broker-a"}, 7, true) // never read
	err = store.Close(context.Background())
	var left *client.PersistError
	if errors.As(err, &left) {
		for _, q := range left.Queues {
			fmt.Println(q.Queue.Topic, q.Offset, errors.Is(q.Err, offset.ErrNotRead))
		}
	}
	// Output: orders 7 true
}

// Hooks tell what becomes of each offset.
func ExampleWithStoreHooks() {
	seeds, stop := node()
	defer stop()
	ctx := context.Background()
	c, err := client.New(seeds, client.WithHooks(client.Hooks{
		LeaderChanged: func(from, to string) { fmt.Println("leads now:", to == seeds[0]) },
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	store, err := client.NewRemoteStore(c, "billing", client.WithPersistInterval(0), client.WithStoreHooks(client.StoreHooks{
		Persisted: func(mq offset.MessageQueue, next int64) { fmt.Println("persisted", mq.QueueID, next) },
		Failed:    func(q client.QueueError) { fmt.Println("failed", q.Queue.QueueID, q.Err) },
	}))
	if err != nil {
		log.Fatal(err)
	}
	mq := offset.MessageQueue{Topic: "orders"}
	_, err = store.ReadOffset(ctx, mq, client.ReadFromStore)
	fmt.Println(errors.Is(err, offset.ErrNoOffset))
	store.UpdateOffset(mq, 5, true)
	store.UpdateOffset(offset.MessageQueue{Topic: "orders", QueueID: 1}, 6, true)
	fmt.Println(store.Close(ctx) != nil)
	// Output:
	// leads now: true
	// true
	// persisted 0 5
	// failed 1 not read from the store yet
	// true
}

// progress is an OffsetStore of an application's own.
type progress struct {
	client.OffsetStore
	persisted chan int64
}

func (p *progress) Persist(_ context.Context, mq offset.MessageQueue) error {
	p.persisted <- p.CloneOffsetTable("")[mq]
	return nil
}

func (p *progress) CloneOffsetTable(string) map[offset.MessageQueue]int64 {
	return map[offset.MessageQueue]int64{{Topic: "orders"}: 7}
}

// The persist loop drives any OffsetStore.
func ExampleStartPersistLoop() {
	p := &progress{persisted: make(chan int64)}
	loop, err := client.StartPersistLoop(p, client.PersistLoopConfig{
		First: time.Millisecond, Interval: time.Hour,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-p.persisted)
	loop.Close(context.Background())
	// Output: 7
}
