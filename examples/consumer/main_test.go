package main

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// until waits for a line.
func until(t *testing.T, said <-chan string, want string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line := <-said:
			if line == want {
				return
			}
		case <-late:
			t.Fatalf("%q is not said", want)
		}
	}
}

// TestRun consumes, is moved by an operator, goes on there, and stops with all
// that was consumed in the cluster.
func TestRun(t *testing.T) {
	c := tidemarktest.Start(t, 1)
	said := make(chan string, 1000)
	a := &app{topic: "orders", queues: 1, pause: time.Millisecond, say: func(s string) { said <- s }}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- a.run(ctx, c.Endpoints(), "billing") }()

	mq := offset.MessageQueue{Topic: "orders", Broker: "broker-a"}
	until(t, said, "orders/0 begins at 0")
	for deadline := time.Now().Add(time.Minute); c.Offsets("billing")[mq] < 10; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the group is at %v", c.Offsets("billing"))
		}
	}
	c.Reset("billing", mq, 1_000_000)
	until(t, said, "orders/0 begins at 1000000")
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if at := c.Offsets("billing")[mq]; at < 1_000_000 {
		t.Errorf("the group ended at %d", at)
	}
}
