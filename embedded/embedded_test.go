package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/embedded"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// patience is how long something may take before the test fails.
const patience = 30 * time.Second

func within(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

func queue(id int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: "orders", Broker: "bk", QueueID: id}
}

func open(tb testing.TB, dir string, opts ...embedded.Option) *embedded.Node {
	tb.Helper()
	n, err := embedded.Open(within(tb, patience), dir, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { n.Close() })
	return n
}

func newStore(tb testing.TB, c *client.Client) *client.RemoteStore {
	tb.Helper()
	s, err := client.NewRemoteStore(c, "billing", client.WithPersistInterval(0))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// read reads a queue from the store; -1 is no offset.
func read(tb testing.TB, s client.OffsetStore, mq offset.MessageQueue) int64 {
	tb.Helper()
	v, err := s.ReadOffset(within(tb, patience), mq, client.ReadFromStore)
	if errors.Is(err, offset.ErrNoOffset) {
		return -1
	}
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func persist(tb testing.TB, s client.OffsetStore, mq offset.MessageQueue, next int64) {
	tb.Helper()
	s.UpdateOffset(mq, next, true)
	if err := s.Persist(within(tb, patience), mq); err != nil {
		tb.Fatal(err)
	}
}

// TestOffsetsStayInTheFolder from one run to the next, and nothing listens.
func TestOffsetsStayInTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "offsets")
	for round := range int64(3) {
		n := open(t, dir)
		s := newStore(t, n.Client())
		if v := read(t, s, queue(0)); v != round*10-1 && round > 0 || round == 0 && v != -1 {
			t.Fatalf("round %d begins at %d", round, v)
		}
		persist(t, s, queue(0), round*10+9)
		if api, peer := n.Addresses(); api != "" || peer != "" {
			t.Errorf("it has the addresses %q and %q", api, peer)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if n.Err() != nil || n.Close() != nil {
			t.Errorf("closed it says %v", n.Err())
		}
		select {
		case <-n.Done():
		default:
			t.Error("Close did not wait for the member")
		}
		if _, err := s.ReadOffset(within(t, patience), queue(0), client.ReadFromStore); !errors.Is(err, offset.ErrClosed) {
			t.Errorf("reading after Close: %v", err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

// TestTheFolderIsLocked against a second use, also within the process.
func TestTheFolderIsLocked(t *testing.T) {
	dir := t.TempDir()
	n := open(t, dir)
	_, err := embedded.Open(within(t, patience), dir)
	if locked := (*store.LockedError)(nil); !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second Open: %v", err)
	}
	persist(t, func() client.OffsetStore { s := newStore(t, n.Client()); read(t, s, queue(0)); return s }(), queue(0), 1)
	n.Close()
	again := open(t, dir)
	if v := read(t, newStore(t, again.Client()), queue(0)); v != 1 {
		t.Errorf("after the refusal the folder holds %d", v)
	}
}

// TestOpenRefuses what cannot be, before anything is written.
func TestOpenRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const free = "127.0.0.1:0"
	for _, x := range []struct {
		name string
		dir  string
		opts []embedded.Option
		want string
	}{
		{"no folder", "", nil, "no folder"},
		{"no parent", "gone/deeper", nil, "folder above"},
		{"one address", "d", []embedded.Option{embedded.WithListen(free, "")}, "both are needed"},
		{"join without network", "d", []embedded.Option{embedded.WithJoin()}, "WithListen"},
		{"advertise without network", "d", []embedded.Option{embedded.WithAdvertise("a:1", "a:2")}, "WithListen"},
		{"a wildcard", "d", []embedded.Option{embedded.WithListen(":0", free)}, "WithAdvertise"},
		{"no address", "d", []embedded.Option{embedded.WithListen("localhost", free)}, "localhost"},
		{"a taken address", "d", []embedded.Option{embedded.WithListen(taken.Addr().String(), free)}, "in use"},
		{"a bad advertised one", "d", []embedded.Option{embedded.WithListen(free, free), embedded.WithAdvertise("n1.example:7411", "n1.example")}, "host:port"},
		{"a name", "d", []embedded.Option{embedded.WithName("a b")}, "a b"},
		{"timers", "d", []embedded.Option{embedded.WithListen(free, free), embedded.WithTimers("fast")}, "slow-disk"},
	} {
		t.Run(x.name, func(t *testing.T) {
			base := t.TempDir()
			dir := x.dir
			if dir != "" {
				dir = filepath.Join(base, dir)
			}
			n, err := embedded.Open(within(t, patience), dir, append([]embedded.Option{nil}, x.opts...)...)
			if n != nil || !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, %v; want an error with %q", n, err, x.want)
			}
			if left, _ := os.ReadDir(base); len(left) != 0 {
				t.Errorf("it has written %v", left)
			}
		})
	}
}

// TestAFolderKeepsItsName, which need not be given again.
func TestAFolderKeepsItsName(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, embedded.WithName("till")).Close()
	if _, err := embedded.Open(within(t, patience), dir, embedded.WithName("other")); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "till") {
		t.Errorf("under another name: %v", err)
	}
	n := open(t, dir)
	st, err := n.Client().Status(within(t, patience), "")
	if err != nil || !strings.HasPrefix(st.NodeID, "till/") || len(st.Members) != 1 || !st.Members[0].Voter {
		t.Errorf("opened without a name it is %q, members %+v, %v", st.NodeID, st.Members, err)
	}
}

// TestADamagedFolderIsNotOpened, and not written over.
func TestADamagedFolderIsNotOpened(t *testing.T) {
	dir := t.TempDir()
	open(t, dir).Close()
	path := filepath.Join(dir, "member.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.Open(within(t, patience), dir); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("a damaged identity: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "{}" {
		t.Errorf("it holds %q, %v", b, err)
	}
}

// TestOpenEndsWithItsContext and says what it waited for.
func TestOpenEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	const any = "127.0.0.1:0"
	_, err := embedded.Open(within(t, 2*time.Second), dir, embedded.WithListen(any, any), embedded.WithJoin())
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waits for its cluster") {
		t.Errorf("a node that nobody adds: %v", err)
	}
	// It founded nothing: a node that may found one does.
	n := open(t, dir)
	if v := read(t, newStore(t, n.Client()), queue(0)); v != -1 {
		t.Errorf("it is at %d", v)
	}
}

// TestTheLog comes in the program's own form.
func TestTheLog(t *testing.T) {
	var mu sync.Mutex
	var out bytes.Buffer
	l := slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelInfo}))
	n := open(t, t.TempDir(), embedded.WithLogger(l))
	n.Close()
	mu.Lock()
	defer mu.Unlock()
	if s := out.String(); !strings.Contains(s, "from=tidemark.raft") || strings.Contains(s, "level=DEBUG") || !strings.Contains(s, "level=INFO") {
		t.Errorf("the log is:\n%s", s)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
