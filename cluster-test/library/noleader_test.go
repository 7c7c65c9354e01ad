package library

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestNoLeaderIsTheWord: with two of three members gone, a read ends as "no
// leader", which the one that is left says, and not as "cannot be reached",
// whichever member was asked last.
func TestNoLeaderIsTheWord(t *testing.T) {
	c := served.Start(t, 3)
	cl := c.Client()
	store, err := client.NewRemoteStore(cl, "late", client.WithPersistInterval(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(store) })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := store.ReadOffset(ctx, mq(0), client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
		t.Fatal(err)
	}
	leader := c.Leader()
	leader.Kill()
	c.Followers(leader)[0].Kill()
	for name, do := range map[string]func(ctx context.Context) error{
		"Fetch": func(ctx context.Context) error { _, _, err := cl.Fetch(ctx, offset.ReadAt{}, key(0)); return err },
		"List":  func(ctx context.Context) error { _, err := cl.List(ctx, offset.List{}); return err },
		"Export": func(ctx context.Context) error {
			return cl.Export(ctx, offset.List{}, func(offset.Page) error { return nil })
		},
		"ReadOffset": func(ctx context.Context) error {
			_, err := store.ReadOffset(ctx, mq(1), client.ReadFromStore)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for most of its time
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			err := do(ctx)
			if !errors.Is(err, offset.ErrNoLeader) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, offset.ErrUnreachable) {
				t.Errorf("%v", err)
			}
		})
	}
}
