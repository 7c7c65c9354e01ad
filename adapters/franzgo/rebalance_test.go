package franzgo_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/adapters/franzgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

func rebalanced(t *testing.T, s *stand) {
	const partitions, n = 4, 300
	s.topic(t, "shared", partitions, n)
	var total, ofB seen
	cfg := franzgo.Config{
		Group: "shared", Topics: []string{"shared"},
		Store: []client.StoreOption{client.WithPersistInterval(time.Hour)}, // who gives a partition up persists it, and nothing else
	}
	a := s.consumer(t, cfg)
	stopA := total.run(t, a)
	until(t, func() bool { n, p := total.total(); return n > 100 && p == partitions })

	b := s.consumer(t, cfg) // joins by itself
	both := func(r franzgo.Record) { total.add(r); ofB.add(r) }
	stopB := runWith(t, b, both)
	for i := 0; ; i++ { // until both have a share, and some more
		for p := range int32(partitions) {
			s.produce(t, "shared", p, 1)
		}
		if _, p := ofB.total(); p == partitions/2 && i >= 50 {
			break
		}
		if i == 10_000 {
			t.Fatal("the second consumer got no share")
		}
	}
	stopA()
	if err := a.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { _, p := ofB.total(); return p == partitions || produceOne(t, s, "shared", partitions) })
	end := map[offset.MessageQueue]int64{}
	for p := range int32(partitions) {
		end[queue("shared", p)] = s.end(t, "shared", p)
	}
	until(t, func() bool { return total.missing(end) == 0 })
	stopB()
	if err := b.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	s.stored(t, "shared", end)
	if faults := total.faults(end); len(faults) > 0 {
		t.Errorf("%d faults: %v", len(faults), faults[:min(len(faults), 20)])
	}
}

// produceOne appends a message to each partition, and is never true.
func produceOne(t *testing.T, s *stand, topic string, partitions int32) bool {
	for p := range partitions {
		s.produce(t, topic, p, 1)
	}
	return false
}

func drained(t *testing.T, s *stand) {
	s.topic(t, "drained", 1, 10)
	waits := heard{text: []byte("once what was polled is done"), once: make(chan struct{}, 1)}
	a := s.consumer(t, franzgo.Config{Group: "drained", Topics: []string{"drained"}, Drain: patience, Logger: slog.New(slog.NewTextHandler(waits, nil))})
	records := poll(t, a, 10)
	left := make(chan error, 1)
	go func() { left <- a.Client().LeaveGroupContext(within(t)) }() // a revoke of all
	select {
	case <-waits.once:
	case err := <-left:
		t.Fatalf("the group was left, with records that are not done: %v", err)
	case <-within(t).Done():
		t.Fatal("nothing was revoked")
	}
	for _, r := range records[:9] { // consuming goes on meanwhile
		r.Done()
	}
	if len(left) > 0 {
		t.Error("the revoke did not wait for the last record")
	}
	records[9].Done()
	if err := <-left; err != nil {
		t.Fatal(err)
	}
	if got := s.tide.Offsets("drained")[queue("drained", 0)]; got != 10 {
		t.Errorf("%d is stored once the group is left, want 10", got)
	}
}

// heard is a log that tells of a line with a text in it.
type heard struct {
	text []byte
	once chan struct{}
}

func (h heard) Write(line []byte) (int, error) {
	if bytes.Contains(line, h.text) {
		select {
		case h.once <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// A member that Kafka throws out loses its partitions at once; what is done by
// then is stored all the same, and it joins again by itself.
func thrownOut(t *testing.T, s *stand) {
	s.topic(t, "thrown", 1, 20)
	c := s.consumer(t, franzgo.Config{
		Group: "thrown", Topics: []string{"thrown"},
		Store: []client.StoreOption{client.WithPersistInterval(time.Hour)}, // only who loses a partition persists it
	})
	records := poll(t, c, 20)
	for _, r := range records[:12] {
		r.Done()
	}
	member, _ := c.Client().GroupMetadata()
	s.throwOut(t, "thrown", member)
	ctx := within(t)
	for {
		again, err := c.Poll(ctx)
		if ctx.Err() != nil {
			t.Fatal("it did not come back")
		}
		if err != nil {
			continue // that it was thrown out
		}
		if again[0].Offset != 12 {
			t.Errorf("goes on at %d, want 12", again[0].Offset)
		}
		break
	}
	for _, r := range records { // of the assignment that was lost
		r.Done()
	}
	if err := c.Persist(ctx); err != nil {
		t.Fatal(err)
	}
	s.stored(t, "thrown", all("thrown", 1, 12))
}
