// The example consumes a topic of Kafka, with its offsets in Tidemark. Start it
// twice and the group shares the partitions; kill it and start it again and it
// goes on where it was; move the group, and it moves while it runs:
//
//	tidemark group reset printers --to-offset 0 --execute
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/adapters/franzgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

func main() {
	kafka := flag.String("kafka", "127.0.0.1:9092", "brokers of Kafka")
	tidemark := flag.String("tidemark", "127.0.0.1:7411", "nodes of Tidemark")
	group := flag.String("group", "printers", "consumer group")
	topic := flag.String("topic", "orders", "topic")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kafka, *tidemark, *group, *topic); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kafka, tidemark, group, topic string) (err error) {
	tide, err := client.New(strings.Split(tidemark, ","))
	if err != nil {
		return err
	}
	defer tide.Close()
	c, err := franzgo.NewConsumer(tide, franzgo.Config{
		Group:  group,
		Topics: []string{topic},
		Kafka: []kgo.Opt{
			kgo.SeedBrokers(strings.Split(kafka, ",")...),
			kgo.SessionTimeout(6 * time.Second),
			// Without it a broker that cannot be reached is waited for without a word.
			kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelWarn, nil)),
		},
		Start: client.Start{From: client.FromFirst},
		OnMoved: func(m franzgo.Move) {
			fmt.Printf("moved: partition %d goes on at %d (%v)\n", m.Queue.QueueID, m.To, m.Why)
		},
	})
	if err != nil {
		return err
	}
	defer func() { // what is done is stored before the group is left
		closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = errors.Join(err, c.Close(closing))
	}()
	for {
		records, err := c.Poll(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, offset.ErrClosed):
			return err
		case err != nil:
			log.Print(err) // it is tried again
			continue
		}
		for _, r := range records {
			fmt.Printf("partition %d offset %d: %s\n", r.Partition, r.Offset, r.Value)
			r.Done()
		}
	}
}
