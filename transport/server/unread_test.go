package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// fullPage makes the Service hold a page whose answer fits no buffer on its way.
func fullPage() *fake {
	f := newFake()
	long := strings.Repeat("x", offset.MaxName)
	for i := range offset.MaxPage {
		f.keys[offset.Key{Group: long, MessageQueue: offset.MessageQueue{Topic: long, Broker: long, QueueID: int32(i)}}] = offset.Position{Offset: 1}
	}
	return f
}

// pageOfKeys is a request for it, as protobuf, which is quickly encoded.
func pageOfKeys(t *testing.T) string {
	t.Helper()
	b, err := proto.Marshal(&tidemarkv1.ListRequest{What: tidemarkv1.ListKind_LIST_KIND_KEYS})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// askedOverHTTP1 asks for that page on a connection of its own.
func askedOverHTTP1(t *testing.T, w *world) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	body := pageOfKeys(t)
	fmt.Fprintf(nc, "POST /tidemark.v1.GroupService/List HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if _, err := io.ReadFull(nc, make([]byte, 1)); err != nil { // the answer has begun
		t.Fatal(err)
	}
	return nc
}

// TestAnUnreadAnswerIsHeld: what an answer takes counts until it was written.
func TestAnUnreadAnswerIsHeld(t *testing.T) {
	w := start(t, Config{Service: fullPage()})
	nc := askedOverHTTP1(t, w)
	if st := w.Stats(); st.Calls != 1 || st.Bytes < offset.MaxPage*readMemory {
		t.Errorf("while nobody reads the answer: %+v", st)
	}
	if _, err := io.CopyN(io.Discard, nc, 7<<20); err != nil {
		t.Fatal(err)
	}
	nc.Close()
	await(t, "all to be given back", func() bool { st := w.Stats(); return st.Bytes == 0 && st.Calls == 0 })
}

// TestAnUnreadAnswerIsCutOff once it was left unread for Stall, with either HTTP.
func TestAnUnreadAnswerIsCutOff(t *testing.T) {
	w := start(t, Config{Service: fullPage(), Limits: Limits{Stall: time.Second}})
	nc := askedOverHTTP1(t, w)
	await(t, "the end of the call", func() bool { return w.Stats().Calls == 0 })
	if n, err := io.Copy(io.Discard, nc); n > 7<<20 {
		t.Errorf("HTTP/1.1: the whole answer came, %d bytes, %v", n, err)
	}
	res, err := w.h2.Post(w.url+"/tidemark.v1.GroupService/List", "application/proto", strings.NewReader(pageOfKeys(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	await(t, "the end of the call", func() bool { return w.Stats().Calls == 0 })
	if n, err := io.Copy(io.Discard, res.Body); err == nil || res.StatusCode != http.StatusOK {
		t.Errorf("HTTP/2: status %d, %d bytes, and no error", res.StatusCode, n)
	}
}

// TestAnAnswerThatIsReadSteadily is not cut off, though all of it takes several
// times as long as Stall.
func TestAnAnswerThatIsReadSteadily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Service: fullPage()})
		server, nc := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.Serve(&single{conns: make(chan net.Conn), first: server}) }()
		go fmt.Fprintf(nc, "POST /tidemark.v1.GroupService/List HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n%s", len(pageOfKeys(t)), pageOfKeys(t))
		began, size := time.Now(), int64(0)
		for err := error(nil); err == nil; {
			var n int64
			n, err = io.CopyN(io.Discard, nc, pace)
			size += n
			time.Sleep(DefaultLimits().Stall / 4)
		}
		if took := time.Since(began); size < 7<<20 || took < 10*DefaultLimits().Stall {
			t.Errorf("%d bytes came in %s", size, took)
		}
		nc.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// single is a listener on which one connection comes.
type single struct {
	first net.Conn
	conns chan net.Conn
	once  sync.Once
}

func (l *single) Accept() (net.Conn, error) {
	if c := l.first; c != nil {
		l.first = nil
		return c, nil
	}
	<-l.conns
	return nil, net.ErrClosed
}

func (l *single) Close() error {
	l.once.Do(func() { close(l.conns) })
	return nil
}

func (l *single) Addr() net.Addr { return new(net.TCPAddr) }

// inMemory serves one connection that is no socket, for a test in a bubble, until stop.
func inMemory(t *testing.T, s *Server) (nc net.Conn, stop func()) {
	t.Helper()
	server, nc := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(&single{conns: make(chan net.Conn), first: server}) }()
	return nc, func() {
		nc.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
