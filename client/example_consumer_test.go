package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// A consumer in broadcasting mode keeps its offsets on its own disk.
func ExampleLocalFileStore() {
	dir, err := os.MkdirTemp("", "offsets")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, mq := context.Background(), offset.MessageQueue{Topic: "prices", Broker: "broker-a"}

	store, err := client.NewStore(client.Broadcasting, client.StoreConfig{
		ClientID: client.LocalClientID("10.0.0.1", "", ""), Group: "screens", Options: []client.StoreOption{client.WithLocalDir(dir)},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Load(); err != nil {
		log.Fatal(err) // names the files that are damaged, and what to do
	}
	_, err = store.ReadOffset(ctx, mq, client.ReadFromStore)
	fmt.Println(err)
	store.UpdateOffset(mq, 17, true) // in memory; the persist loop writes it
	if err := store.Close(ctx); err != nil {
		log.Fatal(err)
	}
	b, err := os.ReadFile(dir + "/10.0.0.1@DEFAULT/screens/offsets.json")
	fmt.Println(len(b) > 0, err)
	// Output:
	// read offset screens/prices/broker-a/0: no offset
	// true <nil>
}

// Messages that were fetched are consumed by several workers; the offset to
// commit is the lowest that is not done.
func ExampleProcessQueue() {
	q := client.NewProcessQueue[string]()
	_, err := q.Put(
		client.InFlight[string]{Offset: 100, Message: "a"},
		client.InFlight[string]{Offset: 101, Message: "b"},
		client.InFlight[string]{Offset: 102, Message: "c"},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(q.Complete(102))
	fmt.Println(q.Complete(100))
	fmt.Println(q.Ack([]int64{101}, -1)) // failed: it stays
	fmt.Println(q.Complete(101))
	q.Drop() // the queue goes to another consumer
	fmt.Println(q.Complete(101))
	// Output:
	// 100 true
	// 101 true
	// 101 true [101]
	// 103 true
	// 0 false
}

// The orderly way: one worker takes messages in order, and commits or goes back.
func ExampleProcessQueue_orderly() {
	q := client.NewProcessQueue[string]()
	start, err := q.Put(client.InFlight[string]{Offset: 7, Message: "a"}, client.InFlight[string]{Offset: 8, Message: "b"})
	fmt.Println(start, err)
	fmt.Println(q.Take(1))
	q.Rollback()
	fmt.Println(q.Take(2))
	fmt.Println(q.Commit())
	// Output:
	// true <nil>
	// [{7 a}]
	// [{7 a} {8 b}]
	// 9 true
}

// broker stands for a RocketMQ client that knows the ends of the queues.
type broker struct{}

func (broker) MaxOffset(context.Context, offset.MessageQueue) (int64, error) { return 5000, nil }
func (broker) SearchOffset(context.Context, offset.MessageQueue, time.Time) (int64, error) {
	return 4200, nil
}

// A group that has no offset of a queue begins where it wants to.
func ExampleStartPosition() {
	dir, err := os.MkdirTemp("", "offsets")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := client.NewLocalFileStore("c", "g", client.WithLocalDir(dir), client.WithPersistInterval(0))
	if err != nil {
		log.Fatal(err)
	}
	ctx, mq := context.Background(), offset.MessageQueue{Topic: "prices", Broker: "broker-a"}
	for _, from := range []client.ConsumeFrom{client.FromLast, client.FromFirst, client.FromTimestamp} {
		fmt.Println(client.StartPosition(ctx, store, broker{}, mq, client.Start{From: from}))
	}
	store.UpdateOffset(mq, 17, true)
	fmt.Println(client.StartPosition(ctx, store, broker{}, mq, client.Start{}))
	// Output:
	// 5000 <nil>
	// 0 <nil>
	// 4200 <nil>
	// 17 <nil>
}
