package rocketmq

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

var moss = offset.MessageQueue{Topic: "moss", Broker: "bk", QueueID: 1}

// TestBadAnswers: whatever a peer answers, the call ends with an error that
// says what is wrong, and the next call is made on another connection.
func TestBadAnswers(t *testing.T) {
	good := func(opaque int32) header {
		return header{Opaque: opaque, Flag: flagResponse, Version: 513, Fields: map[string]string{"offset": "7"}}
	}
	raw := func(s string) func(int32) []byte { return func(int32) []byte { return []byte(s) } }
	damaged := offset.ErrDamaged
	bad := map[string]struct {
		raw  func(opaque int32) []byte
		is   error
		text string
	}{
		"HTTP":            {raw("HTTP/1.1 400 Bad Request\r\n\r\n"), damaged, "is announced"},
		"TLS alert":       {raw("\x15\x03\x03\x00\x02\x02\x46\x00"), damaged, "is announced"},
		"another request": {func(o int32) []byte { return frameOf(good(o+1), "") }, damaged, "an answer to request 2 came, where 1 was asked"},
		"no offset":       {func(o int32) []byte { return frameOf(header{Opaque: o, Flag: flagResponse}, "") }, damaged, `has the offset ""`},
		"a word": {func(o int32) []byte {
			h := good(o)
			h.Fields["offset"] = "9x"
			return frameOf(h, "")
		}, damaged, `has the offset "9x"`},
		"a negative offset": {func(o int32) []byte {
			h := good(o)
			h.Fields["offset"] = "-7"
			return frameOf(h, "")
		}, damaged, `has the offset "-7"`},
		"too long a body": {func(o int32) []byte { return frameOf(good(o), strings.Repeat("x", maxBody+1)) }, damaged, "16777217 bytes is announced"},
		"only requests": {func(int32) []byte {
			return []byte(strings.Repeat(string(frameOf(header{Code: 40, Opaque: 1}, "")), maxStray))
		}, damaged, "64 requests came"},
	}
	list, what := frames(t, "C23.frames.hex") // as answers: apache/rocketmq#10832, #3474
	for i, b := range list[:len(list)-1] {
		b := append(b, make([]byte, 64<<10)...) // what follows is garbage, too
		bad["C23 "+what[i]] = struct {
			raw  func(opaque int32) []byte
			is   error
			text string
		}{func(int32) []byte { return b }, damaged, ""}
	}
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			p := startRaw(t, c.raw)
			client := newTestClient(t, p.addr)
			for call := range 2 {
				n, err := client.MaxOffset(t.Context(), moss)
				if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "asking "+p.addr+" for a queue's end") {
					t.Errorf("%d, %v; want %v with %q", n, err, c.is, c.text)
				}
				if got := p.conns.Load(); got != int64(call+1) {
					t.Errorf("call %d was made on connection %d", call, got)
				}
			}
		})
	}
}

// TestConnectionEndsWithinAnAnswer at each byte of it.
func TestConnectionEndsWithinAnAnswer(t *testing.T) {
	for _, half := range []bool{false, true} {
		for n := range 100 {
			p := startPeer(t, func(c net.Conn) {
				h, err := nextRequest(c)
				if err != nil {
					return
				}
				b := frameOf(header{Opaque: h.Opaque, Flag: flagResponse, Fields: map[string]string{"offset": "7"}}, "some body of it")
				c.Write(b[:min(n, len(b)-1)])
				if half { // the client may go on sending; it must not wait
					c.(*net.TCPConn).CloseWrite()
					io.Copy(io.Discard, c)
				}
			})
			_, err := newTestClient(t, p.addr).MaxOffset(t.Context(), moss)
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = io.EOF
			}
			if !errors.Is(err, want) {
				t.Fatalf("half %v, after %d bytes: %v, want %v", half, n, err, want)
			}
			p.stop()
		}
	}
}

func TestGoodAnswers(t *testing.T) {
	for name, raw := range map[string]func(int32) []byte{
		"behind requests of the peer's": func(o int32) []byte {
			b := frameOf(header{Code: 40, Opaque: o, Flag: flagOneway}, "body")
			return append(b, frameOf(header{Opaque: o, Flag: flagResponse, Fields: map[string]string{"offset": "7"}}, "")...)
		},
		"in binary": func(o int32) []byte {
			b, _ := hex.DecodeString("0000002a" + "01000026" + "0000" + "00" + "0201" + fmt.Sprintf("%08x", o) + "00000001" + "00000000" + "00000011" + "0006" + hex.EncodeToString([]byte("offset")) + "00000005" + "3030303037")
			return b
		},
		"with a body": func(o int32) []byte {
			return frameOf(header{Opaque: o, Flag: flagResponse, Fields: map[string]string{"offset": "7", "x": ""}}, "nobody reads this")
		},
	} {
		p := startRaw(t, raw)
		if n, err := newTestClient(t, p.addr).MaxOffset(t.Context(), moss); err != nil || n != 7 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}

// TestRefusals: a peer's error is told as it is, and costs no connection.
func TestRefusals(t *testing.T) {
	var code atomic.Int64
	p := startAnswering(t, func(header) (int, map[string]string, string) { return int(code.Load()), nil, "a body" })
	client := newTestClient(t, p.addr)
	for c, want := range map[int]error{1: nil, 2: offset.ErrBusy, 16: offset.ErrDenied, 17: offset.ErrNotFound, 22: offset.ErrNotFound, 777: nil} {
		code.Store(int64(c))
		_, err := client.MaxOffset(t.Context(), moss)
		var remote *RemoteError
		if !errors.As(err, &remote) || remote.Code != c || remote.Unwrap() != want || want != nil && !errors.Is(err, want) {
			t.Errorf("code %d: %v", c, err)
		}
	}
	if n := p.conns.Load(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
	err := &RemoteError{Code: 1, Remark: " CODE: 1\n\tat org.apache.rocketmq\x1b[2J"}
	if got, want := err.Error(), `answered with code 1 (system error): "CODE: 1"`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := (&RemoteError{Code: 777, Remark: strings.Repeat("ü\x1b", 1000)}).Error(); len(got) > 2000 || strings.Contains(got, "\x1b") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestClosedByThePeerMeanwhile: brokers close what was silent for two minutes.
func TestClosedByThePeerMeanwhile(t *testing.T) {
	p := startAnswering(t, func(header) (int, map[string]string, string) { return 0, map[string]string{"offset": "7"}, "" })
	client := newTestClient(t, p.addr)
	for range 3 {
		if n, err := client.MaxOffset(t.Context(), moss); err != nil || n != 7 {
			t.Fatalf("%d, %v", n, err)
		}
		p.hangUp()
	}
	if n := p.conns.Load(); n != 3 {
		t.Errorf("%d connections were made", n)
	}
}

// TestManyCallers share a bounded number of connections, and get each their own answer.
func TestManyCallers(t *testing.T) {
	p := startAnswering(t, func(h header) (int, map[string]string, string) {
		return 0, map[string]string{"offset": "1" + h.Fields["queueId"]}, ""
	})
	client := newTestClient(t, p.addr)
	var wg sync.WaitGroup
	for q := range int32(200) {
		wg.Go(func() {
			mq := moss
			mq.QueueID = q
			n, err := client.MaxOffset(t.Context(), mq)
			if want := fmt.Sprintf("1%d", q); err != nil || fmt.Sprint(n) != want {
				t.Errorf("queue %d: %d, %v; want %s", q, n, err, want)
			}
		})
	}
	wg.Wait()
	if n := p.conns.Load(); n < 1 || n > MaxCalls {
		t.Errorf("%d connections were made; %d are the most", n, MaxCalls)
	}
}

func TestClose(t *testing.T) {
	asked := make(chan struct{})
	p := startPeer(t, func(c net.Conn) {
		if _, err := nextRequest(c); err == nil {
			close(asked)
		}
		io.Copy(io.Discard, c)
	})
	client := newTestClient(t, p.addr, WithTimeout(time.Hour)) // only Close ends it
	done := make(chan error)
	go func() {
		_, err := client.MaxOffset(t.Context(), moss)
		done <- err
	}()
	<-asked
	client.Close()
	if err := <-done; !errors.Is(err, offset.ErrClosed) {
		t.Errorf("a call under way: %v", err)
	}
	if _, err := client.MaxOffset(t.Context(), moss); !errors.Is(err, offset.ErrClosed) {
		t.Errorf("a later call: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	if _, err := Open(t.Context(), nobody); !errors.Is(err, offset.ErrUnreachable) || !strings.Contains(err.Error(), nobody) {
		t.Errorf("nobody listens: %v", err)
	}
	for _, addr := range []string{"", "host", ":9876", "host:", "a:b:c"} {
		if _, err := Open(t.Context(), addr); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("address %q: %v", addr, err)
		}
	}
}

// piped makes a client whose connections are pipes to serve; for synctest.
func piped(t *testing.T, timeout time.Duration, serve func(context.Context, net.Conn)) *Client {
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait) // behind the client's Close
	return newTestClient(t, "bk:10911", WithTimeout(timeout), WithDialer(func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		wg.Go(func() {
			defer theirs.Close()
			serve(t.Context(), theirs)
		})
		return ours, nil
	}))
}

// listens is a peer that says nothing.
func listens(_ context.Context, c net.Conn) { io.Copy(io.Discard, c) }

// TestSilentPeer: a call ends with its context, or when the peer's time is up.
func TestSilentPeer(t *testing.T) {
	for name, c := range map[string]struct {
		within time.Duration // of the call; 0 is no bound
		serve  func(context.Context, net.Conn)
		took   time.Duration
		is     error
	}{
		"reads and says nothing": {0, listens, 10 * time.Second, os.ErrDeadlineExceeded},
		"does not even read":     {0, func(ctx context.Context, _ net.Conn) { <-ctx.Done() }, 10 * time.Second, os.ErrDeadlineExceeded},
		"and an impatient call":  {3 * time.Second, listens, 3 * time.Second, context.DeadlineExceeded},
		"trickles": {0, func(_ context.Context, c net.Conn) {
			nextRequest(c)
			for _, b := range frameOf(header{Opaque: 1, Flag: flagResponse}, "") {
				time.Sleep(time.Second)
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
			}
		}, 10 * time.Second, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := piped(t, 10*time.Second, c.serve)
				ctx, cancel := t.Context(), func() {}
				if c.within > 0 {
					ctx, cancel = context.WithTimeout(ctx, c.within)
				}
				defer cancel()
				begun := time.Now()
				_, err := client.MaxOffset(ctx, moss)
				if took := time.Since(begun); !errors.Is(err, c.is) || took != c.took {
					t.Errorf("%v after %v; want %v after %v", err, took, c.is, c.took)
				}
			})
		})
	}
}

// TestWaitingCallsEndWithTheirContext also where all places are taken.
func TestWaitingCallsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := piped(t, time.Hour, listens)
		var wg sync.WaitGroup
		for range MaxCalls + 5 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := client.MaxOffset(ctx, moss); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
			})
		}
		begun := time.Now()
		wg.Wait()
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("they took %v", took)
		}
	})
}
