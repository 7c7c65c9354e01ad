package frames

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

const testLimit = 1 << 10

// request is a message of n calls.
func request(n int) *tidemarkv1.StreamRequest {
	m := new(tidemarkv1.StreamRequest)
	for i := range n {
		m.Calls = append(m.Calls, &tidemarkv1.Call{Id: uint64(i + 1)})
	}
	return m
}

// piped are the two ends of a stream in memory, after the upgrade.
func piped(t *testing.T) (*Client, *Server) {
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	return &Client{framed{nc: a, r: bufio.NewReader(a), limit: testLimit}},
		&Server{framed{nc: b, r: bufio.NewReader(b), limit: testLimit, patience: time.Second}}
}

// TestOverHTTP: what is sent on one side arrives on the other, and the server's
// end is told.
func TestOverHTTP(t *testing.T) {
	for name, end := range map[string]error{"regular": nil, "with a reason": offset.Errorf(offset.ErrBusy, "too much")} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !Wanted(r) || r.Header.Get("Authorization") != "Bearer x" {
				t.Errorf("%s %s, %v", r.Method, r.URL, r.Header)
			}
			s, err := Accept(w, testLimit, time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				m, err := s.Receive()
				if err == nil {
					err = s.Send(&tidemarkv1.StreamResponse{Replies: make([]*tidemarkv1.Reply, len(m.GetCalls()))})
				}
				if err != nil {
					t.Error(err)
				}
			}
			s.End(end, time.Second)
		}))
		nc, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(t.Context(), nc, "node:1", "Bearer x", testLimit)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 0, 100} {
			if err := c.Send(request(n)); err != nil {
				t.Fatal(err)
			}
			if m, err := c.Recv(); err != nil || len(m.Replies) != n {
				t.Fatalf("%d replies, %v; want %d", len(m.GetReplies()), err, n)
			}
		}
		if _, err := c.Recv(); end == nil && err != io.EOF || end != nil && (!errors.Is(err, offset.ErrBusy) || !strings.Contains(err.Error(), "too much")) {
			t.Errorf("%s: the stream ended with %v", name, err)
		}
		c.Close()
		s.Close()
	}
}

// TestOpenRefused: whatever is no such server, the error says so, and the
// connection is closed.
func TestOpenRefused(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n":                       "404",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n":            "101",
		"HTTP/1.1 200 OK\r\nUpgrade: " + Protocol + "\r\nContent-Length: 0\r\n\r\n": "200",
		"SSH-2.0-x\r\n": "malformed",
		"":              "EOF",
	} {
		a, b := net.Pipe()
		go func() {
			_, _ = http.ReadRequest(bufio.NewReader(b))
			_, _ = io.WriteString(b, answer)
			b.Close()
		}()
		_, err := Open(t.Context(), a, "node:1", "", testLimit)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
		if _, err := a.Write([]byte{0}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%q: the connection is open: %v", answer, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe() // nobody answers
		defer b.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Open(ctx, a, "node:1", "", testLimit); err == nil {
			t.Error("a stream was opened with nobody")
		}
	})
}

// TestWhatIsNoMessage: each fault has its error, and none is taken.
func TestWhatIsNoMessage(t *testing.T) {
	whole, err := proto.Marshal(request(3))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   []byte
		want error
	}{
		"too large":      {[]byte{0, 0, 0, 4, 1}, offset.ErrInvalid},
		"far too large":  {[]byte{0, 0xff, 0xff, 0xff, 0xff}, offset.ErrInvalid},
		"unknown flags":  {[]byte{1, 0, 0, 0, 0}, offset.ErrInvalid},
		"no protobuf":    {[]byte{0, 0, 0, 0, 1, 0xff}, offset.ErrInvalid},
		"nothing":        {nil, io.ErrUnexpectedEOF},
		"a cut prefix":   {[]byte{0, 0, 0}, io.ErrUnexpectedEOF},
		"a cut message":  {append([]byte{0, 0, 0, 0, byte(len(whole))}, whole[:4]...), io.ErrUnexpectedEOF},
		"a regular end":  {[]byte{End, 0, 0, 0, 0}, io.EOF},
		"no end":         {[]byte{End, 0, 0, 0, 1, 0xff}, offset.ErrInvalid},
		"one after it":   {append([]byte{0, 0, 0, 0, byte(len(whole))}, append(whole, 9)...), nil},
		"an empty frame": {[]byte{0, 0, 0, 0, 0}, nil},
	} {
		f := framed{nc: new(net.TCPConn), r: bufio.NewReader(bytes.NewReader(c.in)), limit: testLimit}
		if err := f.receive(new(tidemarkv1.StreamRequest)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestSlowMessage: one that has begun has its time to arrive; the next one may
// take as long as it likes to begin.
func TestSlowMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := piped(t)
		go func() {
			time.Sleep(time.Hour)
			_ = c.Send(request(2))
			_, _ = c.nc.Write([]byte{0, 0, 0, 0, 9, 1})
		}()
		if m, err := s.Receive(); err != nil || len(m.Calls) != 2 {
			t.Fatalf("%v, %v", m, err)
		}
		began := time.Now()
		var timeout net.Error
		if _, err := s.Receive(); !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(began) != time.Second {
			t.Errorf("a message that does not arrive: %v after %v", err, time.Since(began))
		}
	})
}

// TestInterrupt: a receive that waits ends, and so does every later one; a send
// that nobody reads is cut off.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := piped(t)
		ended := make(chan error, 2)
		go func() { _, err := s.Receive(); ended <- err }()
		synctest.Wait()
		s.Interrupt()
		if err := <-ended; err == nil {
			t.Error("an interrupted receive has no error")
		}
		s.expect(time.Time{})
		if _, err := s.Receive(); err == nil {
			t.Error("a receive after an interrupt")
		}
		go func() { ended <- s.Send(&tidemarkv1.StreamResponse{Closing: true}) }()
		synctest.Wait()
		s.CutOff()
		if err := <-ended; err == nil {
			t.Error("a send that was cut off has no error")
		}
	})
}

// TestNothingFollowsATornFrame: after a send that was cut off the end is not told; a
// peer that reads again would take it for the rest of that message.
func TestNothingFollowsATornFrame(t *testing.T) {
	c, s := piped(t)
	sent := make(chan error, 1)
	go func() { sent <- s.Send(&tidemarkv1.StreamResponse{Closing: true}) }()
	if _, err := io.ReadFull(c.nc, make([]byte, prefix)); err != nil {
		t.Fatal(err)
	}
	s.CutOff()
	if err := <-sent; err == nil {
		t.Fatal("a send that was cut off has no error")
	}
	go s.End(nil, time.Minute)
	if rest, err := io.ReadAll(c.nc); err != nil || len(rest) > 0 {
		t.Errorf("%v came after it, %v", rest, err)
	}
}

// FuzzReceive: whatever comes, a message is taken or there is an error, and what
// was taken can be sent again.
func FuzzReceive(f *testing.F) {
	whole, err := proto.Marshal(request(3))
	if err != nil {
		f.Fatal(err)
	}
	frame := append([]byte{0, 0, 0, 0, byte(len(whole))}, whole...)
	f.Add(frame)
	f.Add(append(frame, End, 0, 0, 0, 2, 8, 6))
	f.Add([]byte{0, 0, 0, 4, 1})
	f.Add([]byte{End, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		c := framed{nc: new(net.TCPConn), r: bufio.NewReaderSize(r, 16), limit: testLimit}
		for taken := 0; ; taken++ {
			m := new(tidemarkv1.StreamRequest)
			err := c.receive(m)
			if err == nil {
				if taken > len(in)/prefix || c.in.Len() > testLimit {
					t.Fatalf("%d messages of %d bytes, the last has %d", taken, len(in), c.in.Len())
				}
				again, err := proto.Marshal(m)
				if err == nil {
					err = proto.Unmarshal(again, new(tidemarkv1.StreamRequest))
				}
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			if offset.CodeOf(err) == offset.CodeOK {
				t.Fatalf("%v counts as done", err)
			}
			return
		}
	})
}
