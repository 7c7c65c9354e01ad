package main

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestParse(t *testing.T) {
	if got, err := parse("commit:256:100"); err != nil || got != (work{"commit", 256, 100}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "commit:1", "write:1:1", "read:0:1", "read:2000:1", "commit:1:10001", "commit:x:1", "commit:1:1:1"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Each caller has keys of its own, all different, and raises all of them.
func TestCallersShareNoKey(t *testing.T) {
	c, err := client.New([]string{"127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	seen := map[offset.Key]bool{}
	for i := range 3 {
		k := newCaller(c, offset.ClusterID{1}, i, work{"commit", 3, 100})
		for _, key := range k.keys {
			if seen[key] {
				t.Fatalf("%s occurs twice", key)
			}
			if err := key.Validate(); err != nil {
				t.Fatal(err)
			}
			seen[key] = true
		}
	}
	if len(seen) != 300 {
		t.Errorf("3 callers have %d keys", len(seen))
	}
}

// The first failure ends a run, and is told.
func TestFailureEndsTheRun(t *testing.T) {
	c, err := client.New([]string{"127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	w := work{"read", 2, 1}
	callers := []*caller{newCaller(c, offset.ClusterID{1}, 0, w), newCaller(c, offset.ClusterID{1}, 1, w)}
	if _, err := together(t.Context(), callers, w, time.Minute); !errors.Is(err, offset.ErrClosed) {
		t.Errorf("a run over a closed client gives %v", err)
	}
}
