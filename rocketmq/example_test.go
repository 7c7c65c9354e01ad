package rocketmq_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/rocketmq"
)

// A Client tells a consumer where to begin on a queue that it has no offset of.
func Example_startPosition() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	brokers, err := rocketmq.Open(ctx, "127.0.0.1:9876") // a name server, or a broker
	if err != nil {
		log.Fatal(err)
	}
	defer brokers.Close()
	var store client.OffsetStore // as client.NewRemoteStore gives it
	mq := offset.MessageQueue{Topic: "orders", Broker: "broker-a", QueueID: 0}
	next, err := client.StartPosition(ctx, store, brokers, mq, client.Start{From: client.FromLast})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the first message to fetch:", next)
}
