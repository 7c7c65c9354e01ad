package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

// world is a server on a loopback port, stopped at the end of its test.
type world struct {
	*Server
	fake *fake
	addr string
	url  string
	json *http.Client // HTTP/1.1
	h2   *http.Client // HTTP/2 without TLS
}

func start(t testing.TB, cfg Config) *world {
	t.Helper()
	if cfg.Service == nil {
		cfg.Service = newFake()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := cfg.Service.(*fake)
	w := &world{Server: New(cfg), fake: f, addr: l.Addr().String(), url: "http://" + l.Addr().String()}
	plain := &http.Transport{DisableCompression: true}
	h2 := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	w.json, w.h2 = &http.Client{Transport: plain}, &http.Client{Transport: h2}
	served := make(chan error, 1)
	go func() { served <- w.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		plain.CloseIdleConnections()
		h2.CloseIdleConnections()
		if err := w.Shutdown(ctx); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve returned %v after a regular stop", err)
		}
	})
	return w
}

func (w *world) offsets() tidemarkv1connect.OffsetServiceClient {
	return tidemarkv1connect.NewOffsetServiceClient(w.h2, w.url)
}

// post sends JSON to an RPC ("OffsetService/Commit") and decodes the answer.
func (w *world) post(t testing.TB, rpc, body string) (status int, answer map[string]any) {
	t.Helper()
	return w.postAs(t, rpc, "application/json", []byte(body), nil)
}

func (w *world) postAs(t testing.TB, rpc, kind string, body []byte, header http.Header) (status int, answer map[string]any) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, w.url+"/tidemark.v1."+rpc, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	for k, v := range header {
		req.Header[k] = v
	}
	res, err := w.json.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s answered %d with %q, which is not JSON: %v", rpc, res.StatusCode, text, err)
	}
	return res.StatusCode, answer
}

func (w *world) get(t testing.TB, path string) (status int, body string) {
	t.Helper()
	res, err := w.json.Get(w.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// await waits until ok holds.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, patience)
		}
		time.Sleep(time.Millisecond) // between two looks at the condition
	}
}

func commitOf(group string, queue int32, to int64) *tidemarkv1.CommitRequest {
	return &tidemarkv1.CommitRequest{
		ClusterId: fakeCluster.String(),
		Commits: []*tidemarkv1.TopicCommits{{
			Group: group, Topic: "orders", Broker: "b1",
			QueueIds: []int32{queue}, Offsets: []int64{to}, Epochs: []uint64{1},
		}},
	}
}

func keyOf(group string, queue int32) *tidemarkv1.Key {
	return &tidemarkv1.Key{Group: group, Topic: "orders", Broker: "b1", QueueId: queue}
}
