package node

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestAMarkThatCannotBeWrittenIsTriedAgain: without it a restart would run a member
// whose state differs from the majority's.
func TestAMarkThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	for name, when := range map[string]struct{ before, after time.Duration }{
		"while it rests": {time.Hour, time.Hour}, "when it is stopped": {time.Hour, 0}, "when it is being stopped already": {},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := Config{Dir: t.TempDir(), Logger: hclog.NewNullLogger()}
			obstacle := filepath.Join(c.Dir, quarantineFile+".tmp", "x")
			if err := os.MkdirAll(obstacle, 0o700); err != nil {
				t.Fatal(err)
			}
			r := &replica{config: &c, failed: make(chan struct{})}
			r.giveUp(7, offset.Digest{1}, offset.Digest{2})
			q, ok := r.cause.(*quarantine)
			if !ok {
				t.Fatalf("%s: the cause is %v", name, r.cause)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			n := &Node{config: c}
			rest := func() { done <- n.rest(ctx, q) }
			if when.before > 0 {
				go rest()
				time.Sleep(when.before) // many tries
			}
			if got, err := readQuarantine(c.Dir); got != nil || err != nil {
				t.Fatalf("%s: there is a mark already: %v, %v", name, got, err)
			}
			if err := os.RemoveAll(filepath.Dir(obstacle)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(when.after)
			cancel()
			if when.before == 0 {
				go rest()
			}
			if err := <-done; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got, err := readQuarantine(c.Dir); err != nil || got == nil || got.Checkpoint != 7 || got.Own != (offset.Digest{1}).String() {
				t.Errorf("%s: the mark is %+v, %v", name, got, err)
			}
		})
	}
}
