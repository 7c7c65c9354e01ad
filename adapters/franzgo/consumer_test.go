package franzgo_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/adapters/franzgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// TestKafka runs against one Kafka broker and one cluster of three; each part
// has topic and group of its own.
func TestKafka(t *testing.T) {
	s := newStand(t)
	for name, run := range map[string]func(*testing.T, *stand){
		"completions in any order":             outOfOrder,
		"killed, and another goes on":          killed,
		"an operator moves it":                 moved,
		"an operator removes it":               removed,
		"two share, and one leaves":            rebalanced,
		"a revoke waits for records":           drained,
		"thrown out of the group":              thrownOut,
		"fixed partitions":                     fixed,
		"a position beyond the end":            beyondTheEnd,
		"a position that retention has passed": passedByRetention,
		"a position that rests":                rests,
		"Tidemark is away":                     away,
		"many are not done":                    paused,
		"a new group begins at the end":        beginsAtTheEnd,
	} {
		t.Run(name, func(t *testing.T) { run(t, s) })
	}
}

func outOfOrder(t *testing.T, s *stand) {
	s.topic(t, "shuffled", 2, 50)
	c := s.consumer(t, franzgo.Config{Group: "shuffled", Topics: []string{"shuffled"}})
	records := poll(t, c, 100)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(records), func(i, k int) { records[i], records[k] = records[k], records[i] })
	var held franzgo.Record
	for _, r := range records {
		if r.Partition == 1 && r.Offset == 17 {
			held = r
			continue
		}
		go r.Done()
	}
	s.stored(t, "shuffled", map[offset.MessageQueue]int64{queue("shuffled", 0): 50, queue("shuffled", 1): 17})
	held.Done()
	if err := c.Persist(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.tide.Offsets("shuffled")[queue("shuffled", 1)]; got != 50 {
		t.Errorf("%d is stored after the last record, want 50", got)
	}
}

func killed(t *testing.T, s *stand) {
	const n = 200
	s.topic(t, "killed", 2, n)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{s.kafka.Addr, strings.Join(s.tide.Endpoints(), ","), "killed", "killed"}, " "))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	most := 120 + rand.IntN(14) // two rounds of persists, so that it dies anywhere in one
	t.Logf("killed after %d", most)
	if _, err := io.WriteString(in, strings.Repeat("\n", most)); err != nil {
		t.Fatal(err)
	}
	done, acknowledged := map[int32]int64{}, map[int32]int64{}
	lines := bufio.NewScanner(out)
	for count := 0; count < most && lines.Scan(); {
		var p int32
		var o int64
		if lines.Text() == "persisted" {
			maps.Copy(acknowledged, done)
		} else if _, err := fmt.Sscanf(lines.Text(), "done %d %d", &p, &o); err == nil {
			done[p] = o + 1
			count++
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatalf("the consumer ended by itself: %v", err)
	}
	for lines.Scan() { // what it said before it died; done is a lower bound from here on
	}
	child.Wait()
	if len(acknowledged) == 0 {
		t.Fatal("the consumer was never acknowledged anything")
	}

	at := s.tide.Offsets("killed")
	for p, next := range acknowledged {
		if got := at[queue("killed", p)]; got < next {
			t.Errorf("partition %d is at %d, and %d was acknowledged", p, got, next)
		}
	}
	c := s.consumer(t, franzgo.Config{Group: "killed", Topics: []string{"killed"}})
	left := 2*n - int(at[queue("killed", 0)]+at[queue("killed", 1)])
	next := map[int32]int64{0: at[queue("killed", 0)], 1: at[queue("killed", 1)]}
	for _, r := range poll(t, c, left) {
		if r.Offset != next[r.Partition] {
			t.Fatalf("%d of partition %d came, want %d", r.Offset, r.Partition, next[r.Partition])
		}
		next[r.Partition]++
		r.Done()
	}
	s.stored(t, "killed", all("killed", 2, n))
}

func moved(t *testing.T, s *stand) {
	s.topic(t, "moved", 1, 100)
	moves := make(chan franzgo.Move, 8)
	c := s.consumer(t, franzgo.Config{Group: "moved", Topics: []string{"moved"}, OnMoved: func(m franzgo.Move) { moves <- m }})
	mq := queue("moved", 0)
	first := poll(t, c, 100)
	for _, r := range first[:80] {
		r.Done()
	}
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 80})

	s.tide.Reset("moved", mq, 40)
	again := poll(t, c, 60)
	if m := <-moves; m.Queue != mq || m.To != 40 || !errors.Is(m.Why, offset.ErrFenced) {
		t.Errorf("told of %+v", m)
	}
	if again[0].Offset != 40 {
		t.Fatalf("goes on at %d, want 40", again[0].Offset)
	}
	for _, r := range first { // done late: of the old position
		r.Done()
	}
	again[0].Done()
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 41})

	s.tide.Reset("moved", mq, 95) // past what is under way
	last := poll(t, c, 5)
	for _, r := range append(again, last[0]) {
		r.Done()
	}
	if m := <-moves; last[0].Offset != 95 || m.To != 95 {
		t.Fatalf("goes on at %d, told of %+v; want 95", last[0].Offset, m)
	}
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 96})
	for _, r := range last {
		r.Done()
	}
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 100})
	if len(moves) > 0 {
		t.Errorf("told of %+v as well", <-moves)
	}
}

func removed(t *testing.T, s *stand) {
	s.topic(t, "removed", 1, 10)
	c := s.consumer(t, franzgo.Config{Group: "removed", Topics: []string{"removed"}})
	for _, r := range poll(t, c, 10) {
		r.Done()
	}
	mq := queue("removed", 0)
	s.stored(t, "removed", map[offset.MessageQueue]int64{mq: 10})
	s.tide.Remove("removed", mq)
	if r := poll(t, c, 10)[0]; r.Offset != 0 { // as a group that never consumed
		t.Errorf("goes on at %d, want 0", r.Offset)
	}
	s.stored(t, "removed", map[offset.MessageQueue]int64{mq: 0})
}

func fixed(t *testing.T, s *stand) {
	s.topic(t, "fixed", 3, 10)
	cfg := franzgo.Config{Group: "fixed", Partitions: map[string][]int32{"fixed": {0, 2}}}
	c := s.consumer(t, cfg)
	for _, r := range poll(t, c, 20) {
		r.Done()
	}
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	s.stored(t, "fixed", map[offset.MessageQueue]int64{queue("fixed", 0): 10, queue("fixed", 2): 10})
	c = s.consumer(t, cfg)
	none(t, c)
	s.tide.Reset("fixed", queue("fixed", 2), 9)
	if r := poll(t, c, 1)[0]; r.Partition != 2 || r.Offset != 9 {
		t.Errorf("record %d of partition %d came, want 9 of 2", r.Offset, r.Partition)
	}
}

func beyondTheEnd(t *testing.T, s *stand) {
	s.topic(t, "beyond", 1, 10)
	mq := queue("beyond", 0)
	s.tide.Reset("beyond", mq, 1000)
	var moves []franzgo.Move
	c := s.consumer(t, franzgo.Config{Group: "beyond", Topics: []string{"beyond"}, OnMoved: func(m franzgo.Move) { moves = append(moves, m) }})
	none(t, c)
	s.stored(t, "beyond", map[offset.MessageQueue]int64{mq: 10}) // lowered, for good
	s.produce(t, "beyond", 0, 1)
	r := poll(t, c, 1)[0]
	if r.Offset != 10 || len(moves) != 1 || moves[0].To != 10 || !errors.Is(moves[0].Why, kerr.OffsetOutOfRange) {
		t.Errorf("goes on at %d, told of %+v", r.Offset, moves)
	}
	r.Done()
	s.stored(t, "beyond", map[offset.MessageQueue]int64{mq: 11})
}

func passedByRetention(t *testing.T, s *stand) {
	s.topic(t, "passed", 1, 100)
	s.deleteBefore(t, "passed", 0, 60)
	mq := queue("passed", 0)
	s.tide.Reset("passed", mq, 30)
	c := s.consumer(t, franzgo.Config{Group: "passed", Topics: []string{"passed"}})
	records := poll(t, c, 40)
	if records[0].Offset != 60 {
		t.Errorf("goes on at %d, want 60", records[0].Offset)
	}
	s.stored(t, "passed", map[offset.MessageQueue]int64{mq: 60})
}

func rests(t *testing.T, s *stand) {
	s.topic(t, "rests", 1, 10)
	mq := queue("rests", 0)
	s.tide.Reset("rests", mq, 1000)
	c := s.consumer(t, franzgo.Config{Group: "rests", Topics: []string{"rests"}, OutOfRange: franzgo.Stop})
	if list, err := c.Poll(within(t)); !errors.Is(err, kerr.OffsetOutOfRange) {
		t.Fatalf("%d records, error %v; want Kafka's", len(list), err)
	}
	none(t, c)
	s.tide.Reset("rests", mq, 4)
	if r := poll(t, c, 6)[0]; r.Offset != 4 {
		t.Errorf("goes on at %d, want 4", r.Offset)
	}
}

func away(t *testing.T, s *stand) {
	s.topic(t, "away", 1, 10)
	mq := queue("away", 0)
	s.tide.Reset("away", mq, 7)
	s.tide.FailNext(tidemarktest.Always, tidemarktest.Fetch, tidemarktest.Refuse(offset.ErrDenied))
	defer s.tide.Heal()
	c := s.consumer(t, franzgo.Config{Group: "away", Topics: []string{"away"}})
	if list, err := c.Poll(within(t)); !errors.Is(err, offset.ErrDenied) {
		t.Fatalf("%d records, error %v; want that of the read", len(list), err)
	}
	s.tide.Heal()
	ctx := within(t)
	for {
		list, err := c.Poll(ctx)
		if errors.Is(err, offset.ErrDenied) {
			continue // it asked once more before
		}
		if err != nil || list[0].Offset != 7 {
			t.Fatalf("%d records, error %v; want those from 7 on", len(list), err)
		}
		return
	}
}

func paused(t *testing.T, s *stand) {
	const n = 3000
	s.topic(t, "paused", 1, n)
	c := s.consumer(t, franzgo.Config{
		Group: "paused", Topics: []string{"paused"},
		Queue: []client.QueueOption{client.WithMaxMessages(500)},
		Kafka: []kgo.Opt{kgo.FetchMaxPartitionBytes(4096)}, // many fetches, a few hundred records each
	})
	var open []franzgo.Record
	ctx := within(t)
	for got := 0; got < n; {
		list, err := c.Poll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		open, got = append(open, list...), got+len(list)
		if len(open) <= 500 {
			continue
		}
		if got < n {
			none(t, c)
		}
		for _, r := range open {
			r.Done()
		}
		open = nil
	}
	for _, r := range open {
		r.Done()
	}
	s.stored(t, "paused", all("paused", 1, n))
}

func beginsAtTheEnd(t *testing.T, s *stand) {
	s.topic(t, "late", 1, 10)
	cfg := franzgo.Config{Group: "late", Topics: []string{"late"}, Kafka: []kgo.Opt{kgo.SeedBrokers(s.kafka.Addr)}}
	c, err := franzgo.NewConsumer(s.tide.Client(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	none(t, c)
	s.stored(t, "late", all("late", 1, 10)) // without a message: the place is kept
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	s.produce(t, "late", 0, 3)
	if r := poll(t, s.consumer(t, cfg), 3)[0]; r.Offset != 10 {
		t.Errorf("the next one begins at %d, want 10: messages were skipped", r.Offset)
	}
}

func TestConfig(t *testing.T) {
	tide, err := client.New([]string{"127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer tide.Close()
	for name, cfg := range map[string]franzgo.Config{
		"nothing to consume": {Group: "g"},
		"both":               {Group: "g", Topics: []string{"t"}, Partitions: map[string][]int32{"t": {0}}},
		"no group":           {Topics: []string{"t"}},
		"a policy of none":   {Group: "g", Topics: []string{"t"}, OutOfRange: franzgo.Stop + 1},
	} {
		if _, err := franzgo.NewConsumer(tide, cfg); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := franzgo.NewConsumer(tide, franzgo.Config{Group: "g", Topics: []string{"t"}, Kafka: []kgo.Opt{kgo.SeedBrokers()}}); err == nil {
		t.Error("options that kgo refuses are taken")
	}
}

// until waits for a condition.
func until(t *testing.T, what func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !what(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not come about")
		}
	}
}

// runWith is seen.run for what consumes otherwise.
func runWith(t *testing.T, c *franzgo.Consumer, consume func(franzgo.Record)) (stop func()) {
	s := &seen{}
	s.also = consume
	return s.run(t, c)
}
