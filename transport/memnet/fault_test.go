package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// expect reads exactly what is wanted, and tells when.
func expect(t *testing.T, c net.Conn, want string) time.Time {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v; want %q", got, err, want)
	}
	return time.Now()
}

func TestCutIsOneWayAndHealDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		a.Write([]byte("early"))
		n.Cut("a", "b")
		a.Write([]byte("late"))
		b.Write([]byte("back"))
		expect(t, a, "back") // the other direction stays
		expect(t, b, "early")
		b.SetReadDeadline(time.Now().Add(time.Hour))
		if k, err := b.Read(make([]byte, 9)); k != 0 || err == nil {
			t.Fatalf("%d bytes came over a cut link, %v", k, err)
		}
		b.SetReadDeadline(time.Time{})
		var reading sync.WaitGroup
		reading.Go(func() { expect(t, b, "late") })
		synctest.Wait()
		n.Heal("a", "b")
		reading.Wait()
	})
}

func TestClosingIsNotToldOverACutLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		n.Cut("a", "b")
		a.Close()
		if _, err := b.Write([]byte("x")); err != nil {
			t.Errorf("b knows already: %v", err)
		}
		b.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := b.Read(make([]byte, 1)); err == io.EOF {
			t.Error("b reads the end over a cut link")
		}
		b.SetReadDeadline(time.Time{})
		n.HealAll()
		if _, err := b.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("healed, b reads %v", err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("healed, b writes: %v", err)
		}
	})
}

func TestDialWaitsForACutLink(t *testing.T) {
	for _, way := range [][2]string{{"a", "b"}, {"b", "a"}} {
		synctest.Test(t, func(t *testing.T) {
			n, l := network(t)
			n.Cut(way[0], way[1])
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if _, err := n.Host("a").Dial(ctx, "b:1"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("dial over a cut link: %v", err)
			}
			var dialling sync.WaitGroup
			dialling.Go(func() { connect(t, n, l) })
			synctest.Wait()
			n.HealAll()
			dialling.Wait()
		})
	}
}

func TestSlowDelaysEachWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		n.Slow("a", "b", 30*time.Millisecond)
		n.Slow("b", "a", 20*time.Millisecond)
		start := time.Now()
		a, b := connect(t, n, l)
		if d := time.Since(start); d != 50*time.Millisecond {
			t.Errorf("dialling took %v; want there and back", d)
		}
		start = time.Now()
		a.Write([]byte("one"))
		time.Sleep(10 * time.Millisecond)
		a.Write([]byte("two"))
		if d := expect(t, b, "one").Sub(start); d != 30*time.Millisecond {
			t.Errorf("the first write took %v", d)
		}
		if d := expect(t, b, "two").Sub(start); d != 40*time.Millisecond {
			t.Errorf("the second arrived after %v", d)
		}
		n.Slow("a", "b", time.Second)
		a.Write([]byte("slow"))
		n.Slow("a", "b", 0)
		a.Write([]byte("fast")) // must not overtake
		expect(t, b, "slowfast")
	})
}

func TestLossyResetsBySeed(t *testing.T) {
	run := func(seed int64) (writes int) {
		n := New(seed)
		n.Host("a")
		l, _ := n.Host("b").Listen(":1")
		defer l.Close()
		n.Lossy("a", "b", 0.05)
		c, err := n.Host("a").Dial(context.Background(), "b:1")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for ; ; writes++ {
			if _, err := c.Write([]byte("x")); errors.Is(err, syscall.ECONNRESET) {
				return writes
			} else if err != nil || writes > 10_000 {
				t.Fatalf("after %d writes: %v", writes, err)
			}
		}
	}
	seen := make(map[int]bool)
	for seed := range int64(8) {
		first := run(seed)
		if again := run(seed); again != first {
			t.Errorf("seed %d: reset after %d writes, then after %d", seed, first, again)
		}
		seen[first] = true
	}
	if len(seen) < 3 {
		t.Errorf("eight seeds give only %d histories", len(seen))
	}
}

func TestResetIsToldToBothAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		a.Write([]byte("lost"))
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a reads: %v", err)
			}
		})
		synctest.Wait()
		n.Reset("b", "a")
		waiting.Wait()
		if _, err := b.Read(make([]byte, 4)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("b reads: %v", err)
		}
	})
}

func TestDownIsTheDeathOfAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		n.Host("b").Down()
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a reads: %v", err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("b writes: %v", err)
		}
		if _, err := n.Host("a").Dial(context.Background(), "b:1"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v", err)
		}
		if l, err := n.Host("b").Listen(":1"); err != nil {
			t.Errorf("its next process cannot listen: %v", err)
		} else {
			l.Close()
		}
	})
}

func TestIsolate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, l := network(t)
		a, b := connect(t, n, l)
		n.Isolate("b")
		a.Write([]byte("to"))
		b.Write([]byte("from"))
		a.SetReadDeadline(time.Now().Add(time.Second))
		b.SetReadDeadline(time.Now().Add(time.Second))
		if k, _ := a.Read(make([]byte, 1)); k != 0 {
			t.Error("b is heard")
		}
		if k, _ := b.Read(make([]byte, 1)); k != 0 {
			t.Error("b hears")
		}
		self, err := n.Host("b").Dial(context.Background(), "b:1")
		if err != nil {
			t.Fatalf("b cannot reach itself: %v", err)
		}
		self.Close()
		far, _ := l.Accept()
		far.Close()
	})
}

func TestNamesAreResolvedAtEachDial(t *testing.T) {
	n, l := network(t)
	var dns *net.DNSError
	if _, err := n.Host("a").Dial(context.Background(), "name:1"); !errors.As(err, &dns) || !dns.IsNotFound {
		t.Fatalf("an unknown name: %v", err)
	}
	n.Point("name", "b")
	c, err := n.Host("a").Dial(context.Background(), "name:1")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	far, _ := l.Accept()
	far.Close()
	n.Point("name", "c")
	if _, err := n.Host("a").Dial(context.Background(), "name:1"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("c has nobody listening: %v", err)
	}
	other, err := n.Host("c").Listen("name:1")
	if err != nil {
		t.Fatalf("c cannot listen at its new name: %v", err)
	}
	other.Close()
	n.Point("b", "")
	if _, err := n.Host("a").Dial(context.Background(), "b:1"); !errors.As(err, &dns) {
		t.Errorf("a name taken away: %v", err)
	}
}
