//go:build !race

// rocketmq-client-go writes the consumer's group name over itself at each pull,
// which the race detector reports: these tests run without it.

package rocketmqgo_test

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

	"github.com/tidemark-mq/tidemark/adapters/rocketmqgo"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// TestRocketMQ runs against one broker and one cluster of three; each part has
// topic and group of its own, and all run at once, since RocketMQ takes its time.
func TestRocketMQ(t *testing.T) {
	s := newStand(t)
	for name, run := range map[string]func(*testing.T, *stand){
		"completions in any order":      outOfOrder,
		"killed, and another goes on":   killed,
		"an operator moves it":          moved,
		"two share, and one leaves":     rebalanced,
		"a position beyond the end":     beyondTheEnd,
		"a position that rests":         rests,
		"Tidemark is away":              away,
		"many are not done":             full,
		"a new group begins at the end": beginsAtTheEnd,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

func outOfOrder(t *testing.T, s *stand) {
	s.topic(t, "shuffled", 2, 50)
	c := s.consumer(t, rocketmqgo.Config{Group: "shuffled", Topics: []string{"shuffled"}})
	list := poll(t, c, 100)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	var held rocketmqgo.Message
	for _, m := range list {
		if m.Queue.QueueId == 1 && m.QueueOffset == 17 {
			held = m
			continue
		}
		go m.Done()
	}
	s.stored(t, "shuffled", map[offset.MessageQueue]int64{s.queue("shuffled", 0): 50, s.queue("shuffled", 1): 17})
	held.Done()
	s.stored(t, "shuffled", s.all("shuffled", 2, 50))
}

func killed(t *testing.T, s *stand) {
	const n = 150
	s.topic(t, "killed", 2, n)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{s.names.Addr, strings.Join(s.tide.Endpoints(), ","), "killed", "killed"}, " "))
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
	most := 100 + rand.IntN(14) // two rounds of persists, so that it dies anywhere in one
	t.Logf("killed after %d", most)
	if _, err := io.WriteString(in, strings.Repeat("\n", most)); err != nil {
		t.Fatal(err)
	}
	done, acknowledged := map[int]int64{}, map[int]int64{}
	lines := bufio.NewScanner(out)
	for count := 0; count < most && lines.Scan(); {
		var q int
		var o int64
		if lines.Text() == "persisted" {
			maps.Copy(acknowledged, done)
		} else if _, err := fmt.Sscanf(lines.Text(), "done %d %d", &q, &o); err == nil {
			done[q] = o + 1
			count++
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatalf("the consumer ended by itself: %v", err)
	}
	for lines.Scan() { // what it said before it died
	}
	child.Wait()

	at := s.tide.Offsets("killed")
	next := map[int]int64{}
	for q := range 2 {
		mq := s.queue("killed", q)
		next[q] = at[mq]
		if at[mq] < acknowledged[q] {
			t.Errorf("queue %d is at %d, and %d was acknowledged", q, at[mq], acknowledged[q])
		}
	}
	if len(acknowledged) == 0 {
		t.Fatal("the consumer was never acknowledged anything")
	}
	c := s.consumer(t, rocketmqgo.Config{Group: "killed", Topics: []string{"killed"}})
	for _, m := range poll(t, c, 2*n-int(next[0]+next[1])) {
		q := m.Queue.QueueId
		if m.QueueOffset != next[q] {
			t.Fatalf("%d of queue %d came, want %d", m.QueueOffset, q, next[q])
		}
		next[q]++
		m.Done()
	}
	s.stored(t, "killed", s.all("killed", 2, n))
}

func moved(t *testing.T, s *stand) {
	s.topic(t, "moved", 1, 100)
	moves := make(chan rocketmqgo.Move, 8)
	c := s.consumer(t, rocketmqgo.Config{Group: "moved", Topics: []string{"moved"}, OnMoved: func(m rocketmqgo.Move) { moves <- m }})
	mq := s.queue("moved", 0)
	first := poll(t, c, 100)
	for _, m := range first[:80] {
		m.Done()
	}
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 80})

	s.tide.Reset("moved", mq, 40)
	again := poll(t, c, 60)
	if m := <-moves; m.Queue != mq || m.To != 40 || !errors.Is(m.Why, offset.ErrFenced) {
		t.Errorf("told of %+v", m)
	}
	if again[0].QueueOffset != 40 {
		t.Fatalf("goes on at %d, want 40", again[0].QueueOffset)
	}
	for _, m := range first { // done late: of the old position
		m.Done()
	}
	again[0].Done()
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 41})

	s.tide.Reset("moved", mq, 95) // past what is under way
	last := poll(t, c, 5)
	if m := <-moves; last[0].QueueOffset != 95 || m.To != 95 {
		t.Fatalf("goes on at %d, told of %+v; want 95", last[0].QueueOffset, m)
	}
	for _, m := range append(again, last...) {
		m.Done()
	}
	s.stored(t, "moved", map[offset.MessageQueue]int64{mq: 100})
}

func rebalanced(t *testing.T, s *stand) {
	const queues, n = 4, 100
	s.topic(t, "shared", queues, n)
	var total, ofB seen
	cfg := rocketmqgo.Config{Group: "shared", Topics: []string{"shared"}, Settle: 10 * time.Second} // more than a loaded machine takes to tell the first
	cfg.Store = []client.StoreOption{client.WithPersistInterval(time.Hour)}                         // who gives a queue up persists it, and nothing else
	a := s.consumer(t, cfg)
	stopA := run(t, a, total.add)
	until(t, func() bool { return total.missing(queues, n) == 0 }, func() string { return "the first did not consume all" })

	b := s.consumer(t, cfg)
	stopB := run(t, b, func(m rocketmqgo.Message) { total.add(m); ofB.add(m) })
	end := int64(n)
	grow := func() {
		for q := range queues {
			s.produce(t, "shared", q, 1)
		}
		end++
	}
	until(t, func() bool { grow(); return ofB.queues() == queues/2 }, func() string { return "the second got no share" })
	stopA()
	shut(t, a)
	until(t, func() bool { grow(); return ofB.queues() == queues }, func() string { return "the second did not get the rest" })
	until(t, func() bool { return total.missing(queues, end) == 0 }, func() string { return "messages are missing" })
	stopB()
	shut(t, b)
	s.stored(t, "shared", s.all("shared", queues, end))
	if faults := total.faults(queues, end); len(faults) > 0 {
		t.Errorf("%d faults: %v", len(faults), faults[:min(len(faults), 20)])
	}
}

func beyondTheEnd(t *testing.T, s *stand) {
	s.topic(t, "beyond", 1, 10)
	mq := s.queue("beyond", 0)
	s.tide.Reset("beyond", mq, 1000)
	moves := make(chan rocketmqgo.Move, 8)
	c := s.consumer(t, rocketmqgo.Config{Group: "beyond", Topics: []string{"beyond"}, OnMoved: func(m rocketmqgo.Move) { moves <- m }})
	s.stored(t, "beyond", map[offset.MessageQueue]int64{mq: 10}) // lowered, for good
	if m := <-moves; m.To != 10 || m.Queue != mq {
		t.Errorf("told of %+v", m)
	}
	s.produce(t, "beyond", 0, 1)
	m := poll(t, c, 1)[0]
	if m.QueueOffset != 10 {
		t.Errorf("goes on at %d, want 10", m.QueueOffset)
	}
	m.Done()
	s.stored(t, "beyond", map[offset.MessageQueue]int64{mq: 11})
}

func rests(t *testing.T, s *stand) {
	s.topic(t, "rests", 1, 10)
	mq := s.queue("rests", 0)
	s.tide.Reset("rests", mq, 1000)
	c := s.consumer(t, rocketmqgo.Config{Group: "rests", Topics: []string{"rests"}, OutOfRange: rocketmqgo.Stop})
	if list, err := c.Poll(within(t)); err == nil || !strings.Contains(err.Error(), "it holds 0 to 10") {
		t.Fatalf("%d messages, error %v; want what the broker holds", len(list), err)
	}
	none(t, c)
	s.tide.Reset("rests", mq, 4)
	if m := poll(t, c, 6)[0]; m.QueueOffset != 4 {
		t.Errorf("goes on at %d, want 4", m.QueueOffset)
	}
}

func away(t *testing.T, s *stand) {
	tide := tidemarktest.Start(t, 1, tidemarktest.WithTimers("slow-disk")) // faults are for this part alone
	s = &stand{names: s.names, broker: s.broker, send: s.send, tide: tide}
	s.topic(t, "away", 1, 10)
	mq := s.queue("away", 0)
	tide.Reset("away", mq, 7)
	tide.FailNext(tidemarktest.Always, tidemarktest.Fetch, tidemarktest.Refuse(offset.ErrDenied))
	c := s.consumer(t, rocketmqgo.Config{Group: "away", Topics: []string{"away"}})
	ctx := within(t)
	if list, err := c.Poll(ctx); !errors.Is(err, offset.ErrDenied) {
		t.Fatalf("%d messages, error %v; want that of the read", len(list), err)
	}
	tide.Heal()
	for {
		list, err := c.Poll(ctx)
		if errors.Is(err, offset.ErrDenied) {
			continue // it asked once more before
		}
		if err != nil || list[0].QueueOffset != 7 {
			t.Fatalf("%d messages, error %v; want those from 7 on", len(list), err)
		}
		return
	}
}

func full(t *testing.T, s *stand) {
	const n = 300
	s.topic(t, "full", 1, n)
	c := s.consumer(t, rocketmqgo.Config{Group: "full", Topics: []string{"full"}, Queue: []client.QueueOption{client.WithMaxMessages(50)}})
	ctx := within(t)
	var open []rocketmqgo.Message
	for got := 0; got < n; {
		list, err := c.Poll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		open, got = append(open, list...), got+len(list)
		if len(open) <= 50 && got < n {
			continue
		}
		if got < n {
			none(t, c)
		}
		for _, m := range open {
			m.Done()
		}
		open = nil
	}
	s.stored(t, "full", s.all("full", 1, n))
}

func beginsAtTheEnd(t *testing.T, s *stand) {
	s.topic(t, "late", 1, 10)
	cfg := rocketmqgo.Config{Group: "late", Topics: []string{"late"}}
	c := s.start(t, cfg)
	s.stored(t, "late", s.all("late", 1, 10)) // without a message: the place is kept
	shut(t, c)
	s.produce(t, "late", 0, 3)
	if m := poll(t, s.start(t, cfg), 3)[0]; m.QueueOffset != 10 {
		t.Errorf("the next one begins at %d, want 10: messages were skipped", m.QueueOffset)
	}
}
