package peer

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// overTCP runs two members on loopback and gives the first one's calls on the second.
func overTCP(t testing.TB) (*Remote, *fake) {
	t.Helper()
	var peers [2]*Peer
	fakes := [2]*fake{{}, {}}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for i := range peers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(Config{
			Listener: l, ID: []string{"n1/1", "n2/1"}[i], Handler: fakes[i],
			Cluster: func() offset.ClusterID { return clusterA },
			Dial: func(ctx context.Context, addr string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", addr)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		peers[i] = p
		running.Go(func() {
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return peers[0].To("n2/1", peers[1].Addr().String()), fakes[1]
}

func TestOverTCP(t *testing.T) {
	r, f := overTCP(t)
	f.readIndex = func(context.Context) (uint64, error) { return 42, nil }
	f.hello = func(string) (Hello, error) { return Hello{ID: "n2/1"}, nil }
	var calling sync.WaitGroup
	for range 200 {
		calling.Go(func() {
			if i, err := r.ReadIndex(within(t, 10*time.Second)); i != 42 || err != nil {
				t.Errorf("%d %v", i, err)
			}
		})
	}
	calling.Wait()
	if h, err := r.Hello(within(t, 10*time.Second)); err != nil || h.ID != "n2/1" {
		t.Errorf("%+v %v", h, err)
	}
}

func BenchmarkReadIndex(b *testing.B) {
	r, f := overTCP(b)
	f.readIndex = func(context.Context) (uint64, error) { return 42, nil }
	for b.Loop() {
		if _, err := r.ReadIndex(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadIndexOf64Callers(b *testing.B) {
	r, f := overTCP(b)
	f.readIndex = func(context.Context) (uint64, error) { return 42, nil }
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := r.ReadIndex(context.Background()); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
