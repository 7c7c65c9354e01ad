package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestBytesArriveInOrderAndCloseBehindThem(t *testing.T) {
	n, l := network(t)
	a, b := connect(t, n, l)
	sent := make([]byte, 3*window+17) // more than is under way at once
	for i := range sent {
		sent[i] = byte(i * 7)
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		for rest := sent; len(rest) > 0; {
			k := min(len(rest), 10_001)
			if w, err := a.Write(rest[:k]); w != k || err != nil {
				t.Errorf("write: %d %v", w, err)
				return
			}
			rest = rest[k:]
		}
		a.Close()
	})
	got, err := io.ReadAll(b)
	writing.Wait()
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("read %d bytes, %v; want %d", len(got), err, len(sent))
	}
	if _, err := b.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the end is told again as %v", err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing to who has closed: %v", err)
	}
	if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("writing after closing: %v", err)
	}
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		start := time.Now()
		b.SetReadDeadline(start.Add(time.Second))
		_, err := b.Read(make([]byte, 1))
		var ne net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
			t.Fatalf("read: %v", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("read ended after %v", d)
		}
		a.SetWriteDeadline(start.Add(3 * time.Second))
		sent, err := a.Write(make([]byte, window+1))
		if sent != window || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("write into a full window: %d %v", sent, err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("write ended after %v", d)
		}
		b.SetReadDeadline(time.Time{})
		if k, err := b.Read(make([]byte, 4)); k != 4 || err != nil {
			t.Errorf("without the deadline: %d %v", k, err)
		}
	})
}

func TestDeadlineOfAWaitingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		_, b := connect(t, n, l)
		var reading sync.WaitGroup
		reading.Go(func() {
			if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
		})
		synctest.Wait() // it waits, without a deadline
		b.SetReadDeadline(time.Now())
		reading.Wait()
	})
}

func TestCloseEndsWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if _, err := a.Write(make([]byte, 2*window)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("write: %v", err)
			}
		})
		waiting.Go(func() {
			if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
				t.Errorf("read: %v", err)
			}
		})
		waiting.Go(func() {
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("accept: %v", err)
			}
		})
		synctest.Wait()
		a.Close()
		b.Close()
		l.Close()
		waiting.Wait()
		if n.Conns() != 0 {
			t.Errorf("%d connections are left", n.Conns())
		}
	})
}

func TestAddresses(t *testing.T) {
	n, l := network(t)
	a, b := connect(t, n, l)
	if got := l.Addr().String(); got != "[::]:1" {
		t.Errorf("listener at %s", got)
	}
	if a.RemoteAddr().String() != "b:1" || b.LocalAddr().String() != "b:1" {
		t.Errorf("b is at %s and %s", a.RemoteAddr(), b.LocalAddr())
	}
	if a.LocalAddr().String() != b.RemoteAddr().String() {
		t.Errorf("a is at %s and %s", a.LocalAddr(), b.RemoteAddr())
	}
	if _, err := n.Host("b").Listen("b:1"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port twice: %v", err)
	}
	if _, err := n.Host("b").Listen("a:2"); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("another's address: %v", err)
	}
	if _, err := n.Host("a").Dial(context.Background(), "b:2"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens: %v", err)
	}
	l.Close()
	if _, err := n.Host("b").Listen("b:1"); err != nil {
		t.Errorf("a port that is free again: %v", err)
	}
}

func TestBacklogIsBounded(t *testing.T) {
	n, l := network(t)
	var conns []net.Conn
	for range backlog {
		c, err := n.Host("a").Dial(context.Background(), "b:1")
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if _, err := n.Host("a").Dial(context.Background(), "b:1"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("one more: %v", err)
	}
	l.Close()
	for _, c := range conns {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("never accepted: %v", err)
		}
		c.Close()
	}
}

// A second writer that waits for the first one keeps no bubble from its time.
func TestTimePassesWhileWritersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		var writing sync.WaitGroup
		for range 2 {
			writing.Go(func() {
				if _, err := a.Write(make([]byte, 2*window)); err != nil {
					t.Error(err)
				}
			})
		}
		began := time.Now()
		time.Sleep(time.Second)
		if _, err := io.ReadFull(b, make([]byte, 4*window)); err != nil {
			t.Error(err)
		}
		writing.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}
