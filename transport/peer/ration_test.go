package peer

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestRationIsOneLineATime(t *testing.T) {
	var r ration
	start := time.Unix(1000, 0)
	for i, c := range []struct {
		at    time.Duration
		quiet int
		ok    bool
	}{
		{0, 0, true}, {1, 0, false}, {rationTime - 1, 0, false},
		{rationTime, 2, true}, {2*rationTime - 1, 0, false},
		{5 * rationTime, 1, true}, {10 * rationTime, 0, true},
	} {
		if quiet, ok := r.take(start.Add(c.at)); quiet != c.quiet || ok != c.ok {
			t.Errorf("%d, at %s: %d %t, want %d %t", i, c.at, quiet, ok, c.quiet, c.ok)
		}
	}
}

// lockedBuffer is a log that a test reads while it is written.
type lockedBuffer struct {
	mu sync.Mutex // guards text
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A scan of the raft port leaves a line or two, not one a connection; whoever
// is a member is told of beside it.
func TestStrangersDoNotFloodTheLog(t *testing.T) {
	const strangers = 200
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := new(lockedBuffer)
	p, err := New(Config{
		Listener: l, ID: "n1/1", Handler: new(fake),
		Cluster: func() offset.ClusterID { return clusterA },
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Output: log}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	began := time.Now()
	for range strangers {
		refusedBy(t, l.Addr().String(), []byte("GET / HTTP/1.1\r\n\r\n"+strings.Repeat("x", 300)))
	}
	g := greeting{kind: kindCall, maxLevel: 1, level: 1, cluster: clusterA, run: NewRunID(), id: "n2/2", target: "n9/9"}
	refusedBy(t, l.Addr().String(), g.append(nil))
	most := 2 + int(time.Since(began)/rationTime)
	if n := strings.Count(log.String(), "refused a connection"); n < 2 || n > most {
		t.Errorf("%d lines of %d refusals, want 2 to %d:\n%s", n, strangers, most, log)
	}
	if !strings.Contains(log.String(), `member=n2/2`) {
		t.Errorf("nothing of the member that was refused:\n%s", log)
	}
}

// refusedBy sends what is no good and waits until the other side has hung up.
func refusedBy(t *testing.T, addr string, say []byte) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	c.Write(say)
	b := make([]byte, 512)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}
