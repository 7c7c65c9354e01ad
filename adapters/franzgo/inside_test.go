package franzgo

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// inside gives a consumer of a group that is called like its test, with a Kafka
// that takes connections and answers nothing.
func inside(t *testing.T, tide *tidemarktest.Cluster, cfg Config) *Consumer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	cfg.Group = t.Name()
	cfg.Kafka = []kgo.Opt{kgo.SeedBrokers(l.Addr().String())}
	cfg.Store = append(cfg.Store, client.WithPersistInterval(20*time.Millisecond))
	c, err := NewConsumer(tide.Client(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// TestWhatWasPolledIsTaken: no setting of the queue makes records vanish that
// kgo will not give again: behind them the offset would pass them.
func TestWhatWasPolledIsTaken(t *testing.T) {
	tide := tidemarktest.Start(t, 1)
	c := inside(t, tide, Config{Partitions: map[string][]int32{"t": {0}}, Queue: []client.QueueOption{client.WithCapacity(10)}})
	c.parts[queueOf("t", 0)].due = time.Time{} // placed
	var records []*kgo.Record
	for i := range int64(50) {
		records = append(records, &kgo.Record{Topic: "t", Offset: i})
	}
	fetches := kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "t", Partitions: []kgo.FetchPartition{{Records: records}}}}}}
	if got := c.take(fetches); len(got) != 50 {
		t.Errorf("%d of 50 records came", len(got))
	}
}

// TestTheNewestReasonMoves: a partition that is out of range and then fenced,
// before the next Poll has come to it, is moved by the fence: its store takes
// no position any more.
func TestTheNewestReasonMoves(t *testing.T) {
	tide := tidemarktest.Start(t, 1)
	c := inside(t, tide, Config{Partitions: map[string][]int32{"t": {0}}})
	mq := queueOf("t", 0)
	c.stop(c.parts[mq], kerr.OffsetOutOfRange)
	c.fenced(client.Fence{Queue: mq, Err: offset.ErrFenced})
	if _, why, err := c.begin(mq); !errors.Is(why, offset.ErrFenced) || err != nil {
		t.Errorf("it is moved for %v, %v", why, err)
	}
}

// TestAFixedPartitionThatWasFencedFirst: its place is given by an operator
// before Kafka has told its end; kgo is to hear of it all the same.
func TestAFixedPartitionThatWasFencedFirst(t *testing.T) {
	tide := tidemarktest.Start(t, 1)
	c := inside(t, tide, Config{Partitions: map[string][]int32{"t": {0}}})
	mq := queueOf("t", 0)
	tide.Reset(t.Name(), mq, 7)
	c.stop(c.parts[mq], offset.ErrFenced)
	c.moveDue(t.Context())
	if got := c.kafka.GetConsumeTopics(); !slices.Equal(got, []string{"t"}) {
		t.Errorf("kgo consumes %q", got)
	}
}

// TestAPartitionThatBeginsIsNotForgotten: a fence of an earlier assignment, or
// the end of one, takes nothing from the next.
func TestAPartitionThatBeginsIsNotForgotten(t *testing.T) {
	tide := tidemarktest.Start(t, 1)
	c := inside(t, tide, Config{Topics: []string{"t"}, Start: client.Start{From: client.FromFirst}})
	mq := queueOf("t", 0)
	before, _, err := c.begin(mq)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.place(t.Context(), mq); err != nil { // assigned anew, while the release goes on
		t.Fatal(err)
	}
	c.partOr(mq, c.store.RemoveOffset)
	if _, err := c.position(t.Context(), before); !errors.Is(err, offset.ErrDropped) {
		t.Errorf("the position of a part that has ended: %v", err)
	}
	if err := c.store.Persist(t.Context(), mq); err != nil {
		t.Error(err)
	}
	if got, ok := tide.Offsets(t.Name())[mq]; !ok || got != 0 {
		t.Errorf("offset %d, %v", got, ok)
	}
}

// TestCloseWaitsForNoMove: a partition that is being moved, by a Kafka that
// does not answer, does not hold Close up.
func TestCloseWaitsForNoMove(t *testing.T) {
	tide := tidemarktest.Start(t, 1)
	c := inside(t, tide, Config{Topics: []string{"t"}})
	p, _, err := c.begin(queueOf("t", 0))
	if err != nil {
		t.Fatal(err)
	}
	c.stop(p, offset.ErrFenced)
	polled := make(chan error, 1)
	go func() {
		_, err := c.Poll(context.Background())
		polled <- err
	}()
	for tide.Calls(tidemarktest.Fetch) == 0 { // it has asked for its position, and then Kafka
		select {
		case err := <-polled:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = c.Close(ctx) // with nothing to store
	if took := time.Since(began); took > placeTime/2 {
		t.Errorf("Close took %v", took)
	}
	if err := <-polled; !errors.Is(err, offset.ErrClosed) {
		t.Errorf("Poll: %v", err)
	}
}
