// Package franzgo consumes from Kafka with franz-go, and keeps the offsets in
// Tidemark instead of in Kafka.
//
// Kafka's group still shares the partitions out, if wanted; where each one
// begins, and how far it is, Tidemark says. So progress survives what takes
// Kafka's offsets topic away (a mirror, a migration, a group that expired), an
// operator's reset moves consumers while they run, and one tool shows the
// groups of Kafka and of RocketMQ.
//
//	tide, err := client.New([]string{"n1:7411", "n2:7411", "n3:7411"})
//	c, err := franzgo.NewConsumer(tide, franzgo.Config{
//		Group:  "billing",
//		Topics: []string{"orders"},
//		Kafka:  []kgo.Opt{kgo.SeedBrokers("kafka:9092")},
//	})
//	for {
//		records, err := c.Poll(ctx)
//		…
//		for _, r := range records {
//			handle(r.Record)
//			r.Done()
//		}
//	}
//	err = c.Close(ctx)
//
// # What is kept
//
// Partition p of topic t is the queue {Topic: t, Broker: "", QueueID: p}. Its
// offset is the next message to consume: the lowest that was polled and is not
// Done, so records may be done in any order, by any number of workers. A
// consumer that dies repeats what was not Done or not yet persisted (1 s, by
// default), and misses nothing.
//
// # When a partition changes hands
//
// A partition that is revoked, or lost, is drained (Config.Drain), persisted
// and dropped before the next owner gets it; what was Done by then is not
// repeated. Records that are Done later count for nothing: each belongs to the
// assignment that it was polled in.
//
// # When an operator moves it
//
// "tidemark group reset" fences the live consumer, within one persist interval:
// nothing of the old position is committed any more, and the next Poll begins
// at the new one. OnMoved is told.
//
// # When the position is not in the log
//
// Retention has passed it, or the topic lost its end: Config.OutOfRange says
// where to go on. Kafka's own reset is not used, since it would leave the old
// offset in the store, and with it a replay at each start.
//
// # Goroutines
//
// Those of the kgo client and of the RemoteStore, which Close ends. OnMoved is
// called in the goroutine that polls.
package franzgo
