package tidemarktest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// A test of a program: it gets the endpoints, and the test decides what goes wrong.
func ExampleStart() {
	_ = func(t *testing.T) { // func TestBillingOutlivesTheLeader(t *testing.T)
		c := tidemarktest.Start(t, 3)
		cl, err := client.New(c.Endpoints()) // in your program
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		store, err := client.NewRemoteStore(cl, "billing")
		if err != nil {
			t.Fatal(err)
		}
		mq := offset.MessageQueue{Topic: "orders"}
		_, _ = store.ReadOffset(t.Context(), mq, client.ReadFromStore)
		store.UpdateOffset(mq, 20, true)

		c.KillLeader()
		if err := store.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Offsets("billing")[mq]; got != 20 {
			t.Errorf("the cluster has %d; want 20", got)
		}
	}
}

// What a program does when the cluster never answers in time.
func ExampleCluster_FailNext() {
	_ = func(t *testing.T, c *tidemarktest.Cluster, store *client.RemoteStore, mq offset.MessageQueue) {
		c.FailNext(tidemarktest.Always, tidemarktest.Commit, tidemarktest.LoseAnswer())
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := store.Persist(ctx, mq); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Error(err)
		}
		c.Heal() // from here on the next run of persisting sends it again, which is harmless
	}
}

// A unit test of a consumer that an operator moves, without a cluster.
func ExampleMemoryStore() {
	ctx, mq := context.Background(), offset.MessageQueue{Topic: "orders"}
	store := tidemarktest.NewMemoryStore("billing")
	store.OnFenced = func(f client.Fence) { fmt.Println("moved by an operator to", f.State.Position.Offset) }

	_, err := store.ReadOffset(ctx, mq, client.ReadFromStore)
	fmt.Println(errors.Is(err, offset.ErrNoOffset))
	store.UpdateOffset(mq, 100, true)
	fmt.Println(store.Persist(ctx, mq), store.Memory().Offsets("billing")[mq])

	store.Memory().Reset("billing", mq, 40)
	store.UpdateOffset(mq, 101, true)
	fmt.Println(errors.Is(store.Persist(ctx, mq), offset.ErrFenced))

	store.RemoveOffset(mq)
	fmt.Println(store.ReadOffset(ctx, mq, client.ReadFromStore))
	// Output:
	// true
	// <nil> 100
	// moved by an operator to 40
	// true
	// 40 <nil>
}

// A store of your own, held to the rules of the interface.
func ExampleTestOffsetStore() {
	_ = func(t *testing.T) { // func TestMyStore(t *testing.T)
		tidemarktest.TestOffsetStore(t, func(t *testing.T) tidemarktest.Subject {
			var m tidemarktest.Memory // in the place of yours: a folder of t.TempDir(), a schema, …
			return tidemarktest.Subject{
				Open:  func() client.OffsetStore { return m.Store("billing") },
				Reset: func(mq offset.MessageQueue, next int64) { m.Reset("billing", mq, next) },
			}
		})
	}
}
