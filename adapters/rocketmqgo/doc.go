// Package rocketmqgo consumes from RocketMQ with the pull consumer of
// rocketmq-client-go, and keeps the offsets in Tidemark instead of in the broker.
//
//	tide, err := client.New([]string{"n1:7411", "n2:7411", "n3:7411"})
//	c, err := rocketmqgo.NewConsumer(tide, rocketmqgo.Config{
//		Group:    "billing",
//		Topics:   []string{"orders"},
//		RocketMQ: []consumer.Option{consumer.WithNameServer([]string{"10.0.0.1:9876"})},
//	})
//	err = c.Start()
//	for {
//		messages, err := c.Poll(ctx)
//		…
//		for _, m := range messages {
//			handle(m.MessageExt)
//			m.Done()
//		}
//	}
//	err = c.Close(ctx)
//
// # Why not an OffsetStore
//
// rocketmq-client-go has an interface OffsetStore, but its methods are not
// exported and no option takes one, so nobody outside can put another in its
// place. This package uses of its pull consumer what stands without offsets:
// membership, the sharing out of queues, and pulling from a given offset. Its
// own store stays empty; it reads and commits nothing at the broker. So the
// broker's tools show no progress for the group: Tidemark's do.
//
// # What is kept
//
// The offset of a queue is the next message to consume: the lowest that was
// polled and is not Done, so messages may be done in any order, by any number
// of workers. A consumer that dies repeats what was not Done or not yet
// persisted (1 s, by default), and misses nothing. A message that fails is not
// sent back to the broker: try it again, or put it elsewhere, and then it is Done.
//
// # When a queue changes hands
//
// RocketMQ tells all members of a change at once and waits for none. The one
// that loses a queue drops and persists it at that moment; the one that gets it
// waits for Config.Settle before it reads where to begin. Messages that are Done
// too late for that are consumed twice, as with RocketMQ's own consumers.
//
// # When an operator moves it
//
// "tidemark group reset" fences the live consumer, within one persist interval:
// it goes on at the new position, and OnMoved is told. A position that is not in
// the queue is moved as Config.OutOfRange says.
//
// # Limits of rocketmq-client-go
//
// A pull can't be cancelled: behind Close, or the loss of a queue, its goroutine
// ends within 30 s, and does nothing any more. Each pull writes the consumer's
// own group name over itself, which Go's race detector reports. Consumers of one
// process need an instance name each; NewConsumer gives them one.
package rocketmqgo
