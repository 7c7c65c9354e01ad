package franzgo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-mq/tidemark/adapters/franzgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// patience is how long a condition may take.
const patience = time.Minute

// stand is a real Kafka broker and a real Tidemark cluster.
type stand struct {
	kafka *javaparts.Kafka
	tide  *tidemarktest.Cluster
	admin *kgo.Client
}

func newStand(t *testing.T) *stand {
	s := &stand{kafka: javaparts.StartKafka(t), tide: tidemarktest.Start(t, 3, tidemarktest.WithTimers("slow-disk"))}
	var err error
	s.admin, err = kgo.NewClient(kgo.SeedBrokers(s.kafka.Addr), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.admin.Close)
	return s
}

// within is a context that a test must not outlive.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// topic makes a topic, with n messages in each of its partitions.
func (s *stand) topic(t *testing.T, name string, partitions int32, n int) {
	t.Helper()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(within(t), s.admin)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("making topic %s: %v", name, err)
	}
	for p := range partitions {
		s.produce(t, name, p, n)
	}
}

// produce appends n messages to a partition.
func (s *stand) produce(t *testing.T, topic string, partition int32, n int) {
	t.Helper()
	list := make([]*kgo.Record, n)
	for i := range list {
		list[i] = &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Append(nil, "m", i)}
	}
	if err := s.admin.ProduceSync(within(t), list...).FirstErr(); err != nil {
		t.Fatalf("producing: %v", err)
	}
}

// consumer starts a consumer that begins at the oldest message and persists
// every 50 ms, and closes it with the test.
func (s *stand) consumer(t *testing.T, cfg franzgo.Config) *franzgo.Consumer {
	t.Helper()
	cfg.Kafka = append(cfg.Kafka, kgo.SeedBrokers(s.kafka.Addr), kgo.FetchMaxWait(200*time.Millisecond), kgo.HeartbeatInterval(200*time.Millisecond))
	cfg.Start = client.Start{From: client.FromFirst}
	cfg.Store = append([]client.StoreOption{client.WithPersistInterval(50 * time.Millisecond)}, cfg.Store...)
	c, err := franzgo.NewConsumer(s.tide.Client(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return c
}

// poll gives the next n records, in the order they come; errors fail the test.
func poll(t *testing.T, c *franzgo.Consumer, n int) []franzgo.Record {
	t.Helper()
	ctx := within(t)
	var all []franzgo.Record
	for len(all) < n {
		list, err := c.Poll(ctx)
		if err != nil {
			t.Fatalf("after %d of %d records: %v", len(all), n, err)
		}
		all = append(all, list...)
	}
	if len(all) > n {
		t.Fatalf("%d records came instead of %d; the last is %d", len(all), n, all[len(all)-1].Offset)
	}
	return all
}

// none checks that a poll of a second gives nothing.
func none(t *testing.T, c *franzgo.Consumer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	list, err := c.Poll(ctx)
	if len(list) > 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%d records came, error %v; want none", len(list), err)
	}
}

func queue(topic string, partition int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: topic, QueueID: partition}
}

// stored waits until Tidemark has just these offsets of a group.
func (s *stand) stored(t *testing.T, group string, want map[offset.MessageQueue]int64) {
	t.Helper()
	var got map[offset.MessageQueue]int64
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = s.tide.Offsets(group); maps.Equal(got, want) {
			return
		}
	}
	t.Fatalf("stored is %v, want %v", got, want)
}

// all gives an offset for each partition of a topic.
func all(topic string, partitions int32, next int64) map[offset.MessageQueue]int64 {
	m := make(map[offset.MessageQueue]int64)
	for p := range partitions {
		m[queue(topic, p)] = next
	}
	return m
}

// seen counts how often each record was consumed.
type seen struct {
	also  func(franzgo.Record) // if set, gets them too
	mu    sync.Mutex
	count map[offset.MessageQueue]map[int64]int
}

func (s *seen) add(r franzgo.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mq := queue(r.Topic, r.Partition)
	if s.count == nil {
		s.count = make(map[offset.MessageQueue]map[int64]int)
	}
	if s.count[mq] == nil {
		s.count[mq] = make(map[int64]int)
	}
	s.count[mq][r.Offset]++
}

// total is how many records were consumed, and of how many partitions.
func (s *seen) total() (records, partitions int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.count {
		for _, n := range m {
			records += n
		}
	}
	return records, len(s.count)
}

// missing counts the records of 0 to n-1 that were not consumed.
func (s *seen) missing(want map[offset.MessageQueue]int64) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, n := range want {
		for o := range n {
			if s.count[mq][o] == 0 {
				count++
			}
		}
	}
	return count
}

// faults names the records of 0 to n-1 that were not consumed exactly once.
func (s *seen) faults(want map[offset.MessageQueue]int64) (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, n := range want {
		for o := range n {
			if c := s.count[mq][o]; c != 1 {
				list = append(list, fmt.Sprintf("%d/%d was consumed %d times", mq.QueueID, o, c))
			}
		}
	}
	slices.Sort(list)
	return list
}

// run polls in a goroutine, consumes what comes, and ends with the returned function.
func (s *seen) run(t *testing.T, c *franzgo.Consumer) (stop func()) {
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
			for _, r := range list {
				s.add(r)
				if s.also != nil {
					s.also(r)
				}
				r.Done()
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
