package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

func TestOnePortSpeaksAllProtocols(t *testing.T) {
	w := start(t, Config{})
	for i, c := range []struct {
		name   string
		client *http.Client
		option []connect.ClientOption
	}{
		{"connect over HTTP/2", w.h2, nil},
		{"connect over HTTP/1.1", w.json, nil},
		{"connect JSON", w.json, []connect.ClientOption{connect.WithProtoJSON()}},
		{"gRPC", w.h2, []connect.ClientOption{connect.WithGRPC()}},
		{"gRPC-Web", w.json, []connect.ClientOption{connect.WithGRPCWeb()}},
	} {
		api := tidemarkv1connect.NewOffsetServiceClient(c.client, w.url, c.option...)
		res, err := api.Commit(t.Context(), connect.NewRequest(commitOf("g", int32(i), 41)))
		if err != nil || res.Msg.GetOffsets()[0] != 41 || res.Msg.GetMeta().GetLeader() != "n1:7411" {
			t.Errorf("%s: commit %v, %v", c.name, res, err)
			continue
		}
		got, err := api.Fetch(t.Context(), connect.NewRequest(&tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{keyOf("g", int32(i))}}))
		if err != nil || got.Msg.GetStates()[0].GetPosition().GetOffset() != 41 {
			t.Errorf("%s: fetch %v, %v", c.name, got, err)
		}
		m := commitOf("g", 0, 1)
		m.ClusterId = ""
		_, err = api.Commit(t.Context(), connect.NewRequest(m))
		if err = wire.FromConnectError(err); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%s: a commit without a cluster id: %v", c.name, err)
		}
	}
	await(t, "all to be given back", func() bool { st := w.Stats(); return st.Calls == 0 && st.Bytes == 0 })
	if p := w.fake.seen[0]; p.Name != "anonymous" || !strings.HasPrefix(p.From, "127.0.0.1:") {
		t.Errorf("the principal is %+v", p)
	}
}

func TestStreamOverHTTP(t *testing.T) {
	for name, option := range map[string]connect.ClientOption{"connect": connect.WithProtoJSON(), "grpc": connect.WithGRPC()} {
		w := start(t, Config{})
		bidi := tidemarkv1connect.NewOffsetServiceClient(w.h2, w.url, option).Stream(t.Context())
		for id := uint64(1); id <= 50; id++ {
			if err := bidi.Send(calls(commitCall(id, commitOf("g", int32(id), int64(id))))); err != nil {
				t.Fatal(err)
			}
		}
		answered := map[uint64]int64{}
		for len(answered) < 50 {
			m, err := bidi.Receive()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, r := range m.Replies {
				answered[r.Id] = r.GetCommit().GetOffsets()[0]
			}
		}
		for id, got := range answered {
			if got != int64(id) {
				t.Errorf("%s: call %d was answered with offset %d", name, id, got)
			}
		}
		if n := w.Stats().Streams; n != 1 {
			t.Errorf("%s: %d streams are open", name, n)
		}
		if err := bidi.CloseRequest(); err != nil {
			t.Fatal(err)
		}
		if _, err := bidi.Receive(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the stream ended with %v", name, err)
		}
		_ = bidi.CloseResponse()
		await(t, "the end of the stream", func() bool { return w.Stats().Streams == 0 })
	}
}

func TestTooLargeAMessageEndsTheStreamWithItsReason(t *testing.T) {
	w := start(t, Config{})
	bidi := w.offsets().Stream(t.Context())
	big := &tidemarkv1.FetchRequest{}
	for range 10_000 {
		big.Keys = append(big.Keys, keyOf(strings.Repeat("g", 200), 0))
	}
	_ = bidi.Send(calls(&tidemarkv1.Call{Id: 1, Call: &tidemarkv1.Call_Fetch{Fetch: big}})) // the answer says why
	m, err := bidi.Receive()
	for err == nil && len(m.Replies) == 0 { // a sign of life
		m, err = bidi.Receive()
	}
	if err = wire.FromConnectError(err); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "split it") {
		t.Errorf("the stream ended with %v", err)
	}
	_ = bidi.CloseRequest()
	_ = bidi.CloseResponse()
}

func TestClientThatGoesAwayEndsItsCalls(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("commit")
	w := start(t, Config{Service: f})
	ctx, cancel := context.WithCancel(t.Context())
	bidi := w.offsets().Stream(ctx)
	if err := bidi.Send(calls(commitCall(1, commitOf("g", 0, 5)))); err != nil {
		t.Fatal(err)
	}
	await(t, "the call", func() bool { return w.Stats().Calls == 1 })
	cancel()
	await(t, "its end", func() bool { st := w.Stats(); return st.Calls == 0 && st.Streams == 0 && st.Bytes == 0 })
	_ = bidi.CloseResponse()
}

func TestShutdownAnswersWhatWasTaken(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("commit")
	w := start(t, Config{Service: f})
	bidi := w.offsets().Stream(t.Context())
	if err := bidi.Send(calls(commitCall(1, commitOf("g", 0, 5)))); err != nil {
		t.Fatal(err)
	}
	var unary sync.WaitGroup
	unary.Go(func() {
		res, err := w.offsets().Commit(t.Context(), connect.NewRequest(commitOf("g", 1, 6)))
		if err != nil || res.Msg.GetOffsets()[0] != 6 {
			t.Errorf("the unary call under way: %v, %v", res, err)
		}
	})
	await(t, "both calls", func() bool { return w.Stats().Calls == 2 })
	stopped := make(chan error, 1)
	go func() { stopped <- w.Shutdown(context.Background()) }()
	for {
		m, err := bidi.Receive()
		if err != nil {
			t.Fatalf("before closing was said: %v", err)
		}
		if m.Closing {
			break
		}
	}
	if _, body := w.getDirect("/readyz"); !strings.Contains(body, "stopping") {
		t.Errorf("/readyz says %q", body)
	}
	close(g.open)
	for answered := false; ; {
		m, err := bidi.Receive()
		if errors.Is(err, io.EOF) && answered {
			break
		}
		if err != nil {
			t.Fatalf("answered: %v, then %v", answered, err)
		}
		for _, r := range m.Replies {
			answered = r.GetCommit().GetOffsets()[0] == 5
		}
	}
	_ = bidi.CloseRequest()
	_ = bidi.CloseResponse()
	unary.Wait()
	if err := <-stopped; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := net.Dial("tcp", w.addr); err == nil {
		t.Error("the port is still open")
	}
}

// getDirect asks the handler without a connection.
func (w *world) getDirect(path string) (int, string) {
	r, _ := http.NewRequest(http.MethodGet, path, nil)
	rec := &recorder{header: http.Header{}}
	w.Handler().ServeHTTP(rec, r)
	return rec.status, rec.body.String()
}

type recorder struct {
	header http.Header
	status int
	body   strings.Builder
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

func TestShutdownIsBounded(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("commit")
	w := start(t, Config{Service: f})
	bidi := w.offsets().Stream(t.Context())
	if err := bidi.Send(calls(commitCall(1, commitOf("g", 0, 5)))); err != nil {
		t.Fatal(err)
	}
	await(t, "the call", func() bool { return w.Stats().Calls == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := w.Shutdown(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 requests were cut off") {
		t.Errorf("Shutdown: %v", err)
	}
	await(t, "the end of the call", func() bool { return w.Stats().Calls == 0 })
	_ = bidi.CloseResponse()
}

func TestConnectionsAreBounded(t *testing.T) {
	for name, limits := range map[string]Limits{
		"in total":    {Connections: 2},
		"per address": {PerAddress: 2},
	} {
		w := start(t, Config{Limits: limits})
		var open []net.Conn
		for range 2 {
			c, err := net.Dial("tcp", w.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			open = append(open, c)
		}
		await(t, "two connections", func() bool { return w.Stats().Connections == 2 })
		if c := dialAndRead(t, w.addr); c != io.EOF {
			t.Errorf("%s: the third connection got %v, want to be closed at once", name, c)
		}
		if st := w.Stats(); st.RefusedConnections != 1 || st.Connections != 2 {
			t.Errorf("%s: %+v", name, st)
		}
		open[0].Close()
		await(t, "a free place", func() bool { return w.Stats().Connections == 1 })
		if status, _ := w.get(t, "/livez"); status != http.StatusOK {
			t.Errorf("%s: with a free place /livez answers %d", name, status)
		}
	}
}

// dialAndRead gives what a read of a new connection fails with.
func dialAndRead(t *testing.T, addr string) error {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_, err = c.Read(make([]byte, 1))
	return err
}

func TestSlowRequestsAreCutOff(t *testing.T) {
	w := start(t, Config{Limits: Limits{Header: 50 * time.Millisecond, Body: 50 * time.Millisecond, Idle: 100 * time.Millisecond}})
	for name, begin := range map[string]string{
		"header that never ends": "POST / HTTP/1.1\r\nHost: x\r\n",
		"nothing at all":         "",
		"body that never comes":  "POST /tidemark.v1.ClusterService/Status HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{",
	} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, begin)
		_ = c.SetReadDeadline(time.Now().Add(patience))
		rest, err := io.ReadAll(bufio.NewReader(c))
		if err != nil {
			t.Errorf("%s: %v (after %q)", name, err, rest)
		}
		if strings.HasPrefix(string(rest), "HTTP/1.1 200") {
			t.Errorf("%s: answered with %q", name, rest)
		}
		c.Close()
	}
}

// Who sends far too much reads why, although it reads only when all is written,
// as most HTTP clients do: with the length told before, and without.
func TestTooLargeABodyIsAnswered(t *testing.T) {
	w := start(t, Config{})
	const head = "POST /tidemark.v1.GroupService/List HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	body := bytes.Repeat([]byte(" "), 8<<20)
	for name, send := range map[string]func(io.Writer) error{
		"length told": func(c io.Writer) error {
			_, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
			return err
		},
		"in chunks": func(c io.Writer) error {
			_, err := fmt.Fprintf(c, "%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body)
			return err
		},
	} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(patience))
		if err := send(c); err != nil {
			t.Errorf("%s: the body is not taken: %v", name, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode < 400 || res.StatusCode > 499 || !strings.Contains(string(text), "at most") && !strings.Contains(string(text), "larger than") {
			t.Errorf("%s: %d %s, %v", name, res.StatusCode, text, err)
		}
		c.Close()
	}
}

// A call may take longer than its body may: the bound on reading must not end it.
func TestLongCallOverHTTP1(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("commit")
	w := start(t, Config{Service: f, Limits: Limits{Body: 50 * time.Millisecond}})
	time.AfterFunc(200*time.Millisecond, func() { close(g.open) })
	if status, answer := w.post(t, "OffsetService/Commit", commitJSON("g", "t", "5")); status != http.StatusOK {
		t.Errorf("a call of 200 ms: %d %v", status, answer)
	}
}

// A caller that gives its time in the protocol's header alone, as for changes
// of the members, is answered before that has passed.
func TestAnswersComeBeforeTheHeadersDeadline(t *testing.T) {
	w := start(t, Config{})
	var left atomic.Int64
	w.fake.before = func(ctx context.Context, _ string) error {
		at, _ := ctx.Deadline()
		left.Store(int64(time.Until(at)))
		return offset.Errorf(offset.ErrNoLeader, "nobody leads")
	}
	for _, c := range []struct {
		header string
		most   time.Duration
	}{{"10000", 9950 * time.Millisecond}, {"400", 370 * time.Millisecond}} {
		for end, asked := time.Now().Add(patience), false; !asked; {
			left.Store(0)
			status, answer := w.postAs(t, "OffsetService/Fetch", "application/json",
				[]byte(`{"keys":[{"group":"g","topic":"t"}],"timeoutMs":20000}`), http.Header{"Connect-Timeout-Ms": {c.header}})
			mine := time.Duration(left.Load())
			if mine <= 0 && time.Now().Before(end) {
				continue // the machine took that long until the call began
			}
			asked = true
			if status != http.StatusServiceUnavailable {
				t.Errorf("%s ms: status %d, %v", c.header, status, answer)
			}
			if mine <= 0 || mine > c.most {
				t.Errorf("%s ms: the call may take %s, want at most %s", c.header, mine, c.most)
			}
		}
	}
}

func TestPanicOfAUnaryCall(t *testing.T) {
	f := newFake()
	f.before = func(context.Context, string) error { panic("broken") }
	w := start(t, Config{Service: f})
	status, answer := w.post(t, "ClusterService/Status", `{}`)
	if status != http.StatusGatewayTimeout || !strings.Contains(fmt.Sprint(answer["message"]), "fault inside the server") {
		t.Errorf("%d %v", status, answer)
	}
	f.mu.Lock()
	f.before = nil
	f.mu.Unlock()
	if status, _ := w.post(t, "ClusterService/Status", `{}`); status != http.StatusOK {
		t.Errorf("the next call: %d", status)
	}
	if n := w.Stats().Panics; n != 1 {
		t.Errorf("%d panics were counted", n)
	}
}

func TestPagePanicBreaksItsRequestOnly(t *testing.T) {
	w := start(t, Config{Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })})
	if _, err := w.json.Get(w.url + "/metrics"); err == nil {
		t.Error("a page that panicked was answered")
	}
	if status, _ := w.get(t, "/livez"); status != http.StatusOK || w.Stats().Panics != 1 {
		t.Errorf("/livez %d, %+v", status, w.Stats())
	}
}

// TestALongCallWithoutABodyOverHTTP1: there is nothing whose time could be over.
func TestALongCallWithoutABodyOverHTTP1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.before = func(ctx context.Context, _ string) error {
			select {
			case <-time.After(4 * time.Second):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		s := New(Config{Service: f, Limits: Limits{Body: time.Second}})
		nc, stop := inMemory(t, s)
		defer stop()
		go io.WriteString(nc, "POST /tidemark.v1.ClusterService/Status HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\nContent-Length: 0\r\n\r\n")
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(nc, status); err != nil || string(status) != "HTTP/1.1 200" {
			t.Errorf("%q, %v", status, err)
		}
		go io.Copy(io.Discard, nc)
		synctest.Wait()
	})
}
