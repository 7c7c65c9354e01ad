package bareraft

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/ports"
)

func TestFrames(t *testing.T) {
	body := AppendPair(AppendPair(nil, "a", 1), "bc", 1<<40)
	q, err := readRequest(bufio.NewReader(bytes.NewReader(appendRequest(nil, 7, opPut, body))))
	if err != nil || q.id != 7 || q.op != opPut {
		t.Fatalf("got %+v, %v", q, err)
	}
	got := ""
	if err := eachPair(q.body, func(k []byte, v uint64) { got += fmt.Sprintf("%s=%d ", k, v) }); err != nil || got != "a=1 bc=1099511627776 " {
		t.Errorf("got %s, %v", got, err)
	}
	for n := 1; n < len(body); n++ {
		if n == len(AppendPair(nil, "a", 1)) {
			continue
		}
		if err := eachPair(body[:n], func([]byte, uint64) {}); !errors.Is(err, errBody) {
			t.Errorf("%d of %d bytes give %v", n, len(body), err)
		}
	}
	for _, bad := range [][]byte{{8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, {255, 255, 255, 255}} {
		if _, err := readRequest(bufio.NewReader(bytes.NewReader(bad))); err == nil {
			t.Errorf("% x is taken", bad)
		}
	}
	want := reply{9, statusAbsent, 12}
	if r, err := readReply(bytes.NewReader(appendReply(nil, want))); err != nil || r != want {
		t.Errorf("got %+v, %v", r, err)
	}
}

// Three nodes keep what many callers of one client put, for each log store,
// and when the one that leads has ended the other two go on with it.
func TestNodes(t *testing.T) {
	for _, store := range []string{"boltdb", "wal"} {
		t.Run(store, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			addrs := addresses(t)
			ends := map[string]func(){}
			for i := range 3 {
				ends[addrs[i]] = start(t, Config{Dir: filepath.Join(t.TempDir(), fmt.Sprint(i)), Store: store, Listen: addrs[i], Peer: addrs[3+i], Peers: addrs[3:]})
			}
			c := New(addrs[:3])
			defer c.Close()
			const callers = 20
			putAll(ctx, t, c, callers, 1)
			if _, err := c.Get(ctx, "nobody"); !errors.Is(err, ErrAbsent) {
				t.Errorf("a key that was not put gives %v", err)
			}
			leader, err := c.Leader(ctx)
			if err != nil {
				t.Fatal(err)
			}
			ends[leader]()
			for i := range callers {
				if got, err := c.Get(ctx, fmt.Sprint(i)); err != nil || got != 1 {
					t.Errorf("%d is %d after the end of the leader (%v), want 1", i, got, err)
				}
			}
			putAll(ctx, t, c, callers, 2)
		})
	}
}

func putAll(ctx context.Context, t *testing.T, c *Client, callers int, value uint64) {
	t.Helper()
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			if err := c.Put(ctx, AppendPair(nil, fmt.Sprint(i), value)); err != nil {
				t.Errorf("putting %d: %v", i, err)
			}
			if got, err := c.Get(ctx, fmt.Sprint(i)); err != nil || got != value {
				t.Errorf("%d is %d (%v), want %d", i, got, err, value)
			}
		})
	}
	all.Wait()
}

// addresses are six free ones on this machine, the test's own.
func addresses(t *testing.T) (list []string) {
	t.Helper()
	port := ports.Free(t, 1, 2, 3, 4, 5)
	for i := range 6 {
		list = append(list, fmt.Sprintf("127.0.0.1:%d", port+i))
	}
	return list
}

// start runs a node until the test ends, or what it gives is called.
func start(t *testing.T, c Config) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, c) }() // end waits for it
	var once sync.Once
	end = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the node at %s: %v", c.Listen, err)
			}
		})
	}
	t.Cleanup(end)
	return end
}
