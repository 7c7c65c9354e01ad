//go:build !race

package rocketmqgo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/tidemark-mq/tidemark/adapters/rocketmqgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// patience is how long a condition may take.
const patience = javaparts.Patience

// stand is a real name server and broker, and a real Tidemark cluster.
type stand struct {
	names  *javaparts.NameServer
	broker *javaparts.Broker
	tide   *tidemarktest.Cluster
	send   rocketmq.Producer
}

func newStand(t *testing.T) *stand {
	names := javaparts.StartNameServer(t, javaparts.RocketMQ5)
	s := &stand{
		names: names, broker: javaparts.StartBroker(t, javaparts.RocketMQ5, names, nil),
		tide: tidemarktest.Start(t, 3, tidemarktest.WithTimers("slow-disk")),
	}
	var err error
	s.send, err = rocketmq.NewProducer(producer.WithNameServer([]string{names.Addr}), producer.WithInstanceName("tests"),
		producer.WithGroupName("tests"), producer.WithQueueSelector(producer.NewManualQueueSelector()))
	if err == nil {
		err = s.send.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.send.Shutdown() })
	return s
}

// within is a context that a test must not outlive.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// topic makes a topic, with n messages in each of its queues.
func (s *stand) topic(t *testing.T, name string, queues int, n int) {
	t.Helper()
	s.broker.CreateTopic(name, queues)
	for q := range queues {
		s.produce(t, name, q, n)
	}
}

// produce appends n messages to a queue. The name server may learn of a new
// topic a moment later than its broker.
func (s *stand) produce(t *testing.T, topic string, queue, n int) {
	t.Helper()
	ctx := within(t)
	for i := range n {
		m := primitive.NewMessage(topic, fmt.Append(nil, "m", i))
		m.Queue = &primitive.MessageQueue{Topic: topic, BrokerName: s.broker.Name, QueueId: queue}
		for {
			_, err := s.send.SendSync(ctx, m)
			if err == nil {
				break
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				t.Fatalf("producing: %v", err)
			}
		}
	}
}

// consumer starts a consumer that begins at the oldest message and persists
// every 50 ms, and closes it with the test.
func (s *stand) consumer(t *testing.T, cfg rocketmqgo.Config) *rocketmqgo.Consumer {
	t.Helper()
	cfg.Start = client.Start{From: client.FromFirst}
	return s.start(t, cfg)
}

func (s *stand) start(t *testing.T, cfg rocketmqgo.Config) *rocketmqgo.Consumer {
	t.Helper()
	cfg.RocketMQ = append(cfg.RocketMQ, consumer.WithNameServer([]string{s.names.Addr}))
	cfg.Store = append([]client.StoreOption{client.WithPersistInterval(50 * time.Millisecond)}, cfg.Store...)
	c, err := rocketmqgo.NewConsumer(s.tide.Client(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, c) })
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func shut(t *testing.T, c *rocketmqgo.Consumer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// poll gives the next n messages, in the order they come; errors fail the test.
func poll(t *testing.T, c *rocketmqgo.Consumer, n int) []rocketmqgo.Message {
	t.Helper()
	ctx := within(t)
	var all []rocketmqgo.Message
	for len(all) < n {
		list, err := c.Poll(ctx)
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(all), n, err)
		}
		all = append(all, list...)
	}
	if len(all) > n {
		t.Fatalf("%d messages came instead of %d", len(all), n)
	}
	return all
}

// none checks that a poll of a second gives nothing.
func none(t *testing.T, c *rocketmqgo.Consumer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	list, err := c.Poll(ctx)
	if len(list) > 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d messages came, error %v; want none", len(list), err)
	}
}

func (s *stand) queue(topic string, id int) offset.MessageQueue {
	return offset.MessageQueue{Topic: topic, Broker: s.broker.Name, QueueID: int32(id)}
}

// all gives an offset for each queue of a topic.
func (s *stand) all(topic string, queues int, next int64) map[offset.MessageQueue]int64 {
	m := make(map[offset.MessageQueue]int64)
	for q := range queues {
		m[s.queue(topic, q)] = next
	}
	return m
}

// stored waits until Tidemark has just these offsets of a group, that of its
// retry topic apart.
func (s *stand) stored(t *testing.T, group string, want map[offset.MessageQueue]int64) {
	t.Helper()
	var got map[offset.MessageQueue]int64
	until(t, func() bool {
		got = s.tide.Offsets(group)
		maps.DeleteFunc(got, func(mq offset.MessageQueue, _ int64) bool { return mq.Topic == "%RETRY%"+group })
		return maps.Equal(got, want)
	}, func() string { return fmt.Sprintf("stored is %v, want %v", got, want) })
}

// until waits for a condition.
func until(t *testing.T, what func() bool, why func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !what(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(why())
		}
	}
}

// seen counts how often each message was consumed.
type seen struct {
	mu    sync.Mutex
	count map[int]map[int64]int // by queue and offset
}

func (s *seen) add(m rocketmqgo.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := m.Queue.QueueId
	if s.count == nil {
		s.count = make(map[int]map[int64]int)
	}
	if s.count[q] == nil {
		s.count[q] = make(map[int64]int)
	}
	s.count[q][m.QueueOffset]++
}

// queues is how many queues messages came from.
func (s *seen) queues() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.count)
}

// missing counts the messages of 0 to n-1 that were not consumed.
func (s *seen) missing(queues int, n int64) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range queues {
		for o := range n {
			if s.count[q][o] == 0 {
				count++
			}
		}
	}
	return count
}

// faults names the messages of 0 to n-1 that were not consumed exactly once.
func (s *seen) faults(queues int, n int64) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range queues {
		for o := range n {
			if c := s.count[q][o]; c != 1 {
				list = append(list, fmt.Sprintf("%d/%d was consumed %d times", q, o, c))
			}
		}
	}
	slices.Sort(list)
	return list
}

// run polls in a goroutine and consumes what comes, until the returned function.
func run(t *testing.T, c *rocketmqgo.Consumer, consume func(rocketmqgo.Message)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			list, err := c.Poll(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				t.Errorf("polling: %v", err)
				return
			}
			for _, m := range list {
				consume(m)
				m.Done()
			}
		}
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}
