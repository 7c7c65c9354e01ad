package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// http2On is a client over one connection.
func http2On(nc net.Conn) *http.Client {
	h2 := &http.Transport{
		DisableCompression: true, Protocols: new(http.Protocols),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return nc, nil },
	}
	h2.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: h2}
}

// postStream begins a stream over HTTP/2 whose body is written by hand; what it ends
// with comes on the channel.
func postStream(t *testing.T, h2 *http.Client, url string) (*io.PipeWriter, chan string) {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	end := make(chan string, 1)
	go func() {
		res, err := h2.Post(url+frames.Path, "application/connect+proto", r)
		if err != nil {
			end <- err.Error()
			return
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		end <- fmt.Sprintf("%s %v", text, err)
	}()
	return w, end
}

// TestAMessageOfAStreamHasItsTime over HTTP/2 as well: one that has begun to arrive
// ends the stream when it takes too long, and holds nothing any more. The next may
// take as long as it likes to begin.
func TestAMessageOfAStreamHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Service: newFake()})
		nc, stop := inMemory(t, s)
		defer stop()
		h2 := http2On(nc)
		bidi := tidemarkv1connect.NewOffsetServiceClient(h2, "http://node").Stream(t.Context())
		for id := range uint64(3) {
			if err := bidi.Send(calls(fetchCall(id))); err != nil {
				t.Fatal(err)
			}
			if m, err := bidi.Receive(); err != nil || len(m.GetReplies()) != 1 {
				t.Fatalf("%v, %v", m, err)
			}
			time.Sleep(3 * DefaultLimits().Body)
		}
		body, end := postStream(t, h2, "http://node")
		began := time.Now()
		if _, err := body.Write(frame(make([]byte, offset.MaxMessage))[:offset.MaxMessage]); err != nil { // all but a few bytes
			t.Fatal(err)
		}
		synctest.Wait()
		if n := s.Stats().Bytes; n < offset.MaxMessage/2 {
			t.Errorf("%d bytes are held", n)
		}
		select {
		case text := <-end:
			if !strings.Contains(text, "did not arrive whole") || time.Since(began) != DefaultLimits().Body {
				t.Errorf("after %s the stream ended with %q", time.Since(began), text)
			}
		case <-time.After(time.Hour):
			t.Error("the stream has not ended")
			body.Close()
		}
		synctest.Wait()
		if st := s.Stats(); st.Bytes != 0 || st.Streams != 1 {
			t.Errorf("%+v", st)
		}
		if err := bidi.CloseRequest(); err != nil {
			t.Error(err)
		}
		if _, err := bidi.Receive(); !errors.Is(err, io.EOF) {
			t.Errorf("the other stream ended with %v", err)
		}
		_ = bidi.CloseResponse()
	})
}

// TestTooLongAMessageIsNotReadToItsEnd: of one that announces more than a message may
// have, no more than that is read, and held, before it is refused.
func TestTooLongAMessageIsNotReadToItsEnd(t *testing.T) {
	w := start(t, Config{Limits: Limits{Bytes: 2 * offset.MaxMessage}})
	const announced = 64 << 20
	body := append([]byte{0, announced >> 24, 0, 0, 0}, make([]byte, announced)...)
	for kind, path := range map[string]string{
		"application/connect+proto": frames.Path,
		"application/grpc":          tidemarkv1connect.OffsetServiceCommitProcedure,
	} {
		res, err := w.h2.Post(w.url+path, kind, io.MultiReader(bytes.NewReader(body))) // of a length that is not told
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		said := fmt.Sprint(string(text), res.Header, res.Trailer)
		if !strings.Contains(said, "too large") && !strings.Contains(said, "larger") {
			t.Errorf("%s: %s, %v", kind, said, err)
		}
	}
	await(t, "all to be given back", func() bool { return w.Stats().Bytes == 0 })
	if n := w.Stats().Busy; n != 0 {
		t.Errorf("there was no room %d times", n)
	}
}

// TestStreamsOverHTTP2AreBounded, though they share a connection: one too many is told
// why, and which option says so.
func TestStreamsOverHTTP2AreBounded(t *testing.T) {
	for option, limits := range map[string]Limits{
		"--limit-connections": {Connections: 2},
		"--limit-per-address": {PerAddress: 2},
	} {
		w := start(t, Config{Limits: limits})
		var bodies []*io.PipeWriter
		for n := range int64(2) { // one after the other, so that they share a connection
			body, _ := postStream(t, w.h2, w.url)
			bodies = append(bodies, body)
			await(t, "a stream", func() bool { return w.Stats().Streams == n+1 })
		}
		bidi := w.offsets().Stream(t.Context())
		_ = bidi.Send(calls(fetchCall(1))) // the answer tells
		_, err := bidi.Receive()
		if err := wire.FromConnectError(err); !errors.Is(err, offset.ErrBusy) || !strings.Contains(err.Error(), "streams over HTTP/2") || !strings.Contains(err.Error(), option) {
			t.Errorf("a third stream: %v, want one that names %s", err, option)
		}
		_ = bidi.CloseRequest()
		_ = bidi.CloseResponse()
		if status, answer := w.post(t, "ClusterService/Status", "{}"); status != http.StatusOK {
			t.Errorf("a call alongside them: %d %v", status, answer)
		}
		bodies[0].Close()
		await(t, "a free place", func() bool { return w.Stats().Streams == 1 })
		await(t, "a stream in it", func() bool {
			bidi := w.offsets().Stream(t.Context())
			defer func() { _, _ = bidi.CloseRequest(), bidi.CloseResponse() }()
			_ = bidi.Send(calls(fetchCall(1)))
			m, err := bidi.Receive()
			return err == nil && len(m.GetReplies()) == 1
		})
	}
}

// TestAnIdleStreamEnds where it shares a connection: it is told that it is closing,
// as at the stop. Calls put that off.
func TestAnIdleStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(0)
		f.before = g.hold("commit")
		s := New(Config{Service: f})
		const idle = time.Minute
		done := make(chan error, 1)
		go func() {
			done <- s.stream(t.Context(), p, &caller{}, s.newHold(freeBytes), idle, func() { close(p.readEnd) }, func() { close(p.cut) })
		}()
		time.Sleep(idle - time.Second)
		p.in <- calls(commitCall(1, commitOf("g", 0, 5)))
		for start := time.Now(); time.Since(start) < 4*time.Second; { // the call has 5 s
			if m := <-p.out; m.Closing {
				t.Fatal("a stream with a call under way is closing")
			}
		}
		close(g.open)
		if m := <-p.out; len(m.Replies) != 1 {
			t.Fatalf("%v", m)
		}
		last := time.Now()
		if m := <-p.out; !m.Closing || time.Since(last) != idle {
			t.Errorf("%v after %s", m, time.Since(last))
		}
		if err := <-done; err != nil {
			t.Errorf("the stream ended with %v", err)
		}
	})
}

// TestUnaryRequestsOverHTTP2AreBounded before their bodies have come: they are
// counted, and hold their bytes from the first one.
func TestUnaryRequestsOverHTTP2AreBounded(t *testing.T) {
	w := start(t, Config{Limits: Limits{Calls: 1}})
	r, body := io.Pipe()
	answered := make(chan int, 1)
	go func() {
		res, err := w.h2.Post(w.url+"/tidemark.v1.ClusterService/Status", "application/json", r)
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		res.Body.Close()
		answered <- res.StatusCode
	}()
	if _, err := io.WriteString(body, "{        "); err != nil {
		t.Fatal(err)
	}
	await(t, "what has come", func() bool { return w.Stats().Bytes == int64(len("{        ")) })
	res, err := w.h2.Post(w.url+"/tidemark.v1.ClusterService/Status", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(text), "still being sent") {
		t.Errorf("a request alongside it: %d %s", res.StatusCode, text)
	}
	if got := answered1(t, w); got == nil {
		t.Error("a call on a stream of frames was refused")
	}
	await(t, "its place", func() bool { return w.Stats().Calls == 0 }) // given back after the answer was sent
	if _, err := io.WriteString(body, "}"); err != nil {
		t.Fatal(err)
	}
	body.Close()
	if status := <-answered; status != http.StatusOK {
		t.Errorf("once its body has come: %d", status)
	}
	await(t, "all to be given back", func() bool { st := w.Stats(); return st.Bytes == 0 && st.Calls == 0 })
	if n := w.admission.expected.Load(); n != 0 {
		t.Errorf("%d requests are counted that are over", n)
	}
}

// answered1 gives the answer to a fetch on a stream of frames, nil if it was refused.
func answered1(t *testing.T, w *world) *tidemarkv1.FetchResponse {
	t.Helper()
	return answered(t, framedTo(t, w, ""), fetchCall(1))[1].GetFetch()
}

// TestRequestsOverHTTP2AreBounded in all: one beyond is broken off.
func TestRequestsOverHTTP2AreBounded(t *testing.T) {
	s := New(Config{Service: newFake()})
	for range s.limits.requests() {
		s.running.add()
	}
	serve := func(major int) (aborted any) {
		r, _ := http.NewRequest(http.MethodGet, "/livez", nil)
		r.ProtoMajor = major
		defer func() { aborted = recover() }()
		s.Handler().ServeHTTP(&recorder{header: http.Header{}}, r)
		return nil
	}
	if v := serve(2); v != http.ErrAbortHandler {
		t.Errorf("over HTTP/2: %v", v)
	}
	if v := serve(1); v != nil {
		t.Errorf("over HTTP/1.1, whose connections are bounded: %v", v)
	}
	if n := s.running.count(); n != s.limits.requests() {
		t.Errorf("%d requests are counted, of %d", n, s.limits.requests())
	}
}

// TestSignsOfLifeWhileAMessageArrives: a client whose request takes long to travel
// does not take that for silence.
func TestSignsOfLifeWhileAMessageArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Service: newFake()})
		nc, stop := inMemory(t, s)
		defer stop()
		go fmt.Fprintf(nc, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", frames.Path, frames.Protocol)
		res := make([]byte, len("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tidemark-stream\r\n\r\n"))
		if _, err := io.ReadFull(nc, res); err != nil {
			t.Fatal(err)
		}
		message, err := proto.Marshal(calls(fetchCall(1)))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the stream has begun
		whole, began := frame(message), time.Now()
		go nc.Write(whole[:len(whole)-1])
		var head [5]byte
		for i := range 20 {
			if _, err := io.ReadFull(nc, head[:]); err != nil || head != [5]byte{} {
				t.Fatalf("%v, %v", head, err)
			}
			if at, want := time.Since(began), time.Duration(i+2)*DefaultLimits().KeepAlive; at != want {
				t.Errorf("sign of life %d came after %s, want %s", i, at, want)
			}
		}
		go nc.Write(whole[len(whole)-1:])
		if _, err := io.ReadFull(nc, head[:]); err != nil || head == [5]byte{} {
			t.Fatalf("%v, %v; want the answer", head, err)
		}
		if _, err := io.ReadFull(nc, make([]byte, head[4])); err != nil {
			t.Fatal(err)
		}
		if err := nc.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if n, err := nc.Read(head[:]); err == nil {
			t.Errorf("an idle stream sent %d bytes", n)
		}
	})
}
