package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestHealthPages(t *testing.T) {
	f := newFake()
	w := start(t, Config{Service: f, Version: "1.2.3"})
	if status, body := w.get(t, "/livez"); status != 200 || body != "ok\n" {
		t.Errorf("/livez: %d %q", status, body)
	}
	if status, body := w.get(t, "/readyz"); status != 200 || body != "ok\n" {
		t.Errorf("/readyz: %d %q", status, body)
	}
	f.ready = offset.Errorf(offset.ErrNotReady, "catching up\nok")
	f.live = errors.New("the disk hangs")
	if status, body := w.get(t, "/readyz"); status != 503 || body != "not ready: catching up ok\n" {
		t.Errorf("/readyz: %d %q", status, body)
	}
	if status, body := w.get(t, "/livez"); status != 503 || body != "the disk hangs\n" {
		t.Errorf("/livez: %d %q", status, body)
	}
	if status, _ := w.get(t, "/metrics"); status != 404 {
		t.Errorf("/metrics without a handler: %d", status)
	}
}

func TestRootNamesWhatThereIs(t *testing.T) {
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "up 1\n") })
	w := start(t, Config{Version: "1.2.3", Metrics: metrics})
	_, body := w.get(t, "/")
	for _, want := range []string{"1.2.3", "n1:7411", "/livez", "/readyz", "/metrics", "http://" + w.addr + "/tidemark.v1.ClusterService/Status"} {
		if !strings.Contains(body, want) {
			t.Errorf("the root page lacks %q", want)
		}
	}
	for path := range procedures() {
		service, rpc, _ := strings.Cut(strings.TrimPrefix(path, apiPrefix), "/")
		if !strings.Contains(body, apiPrefix+service+"/") || !strings.Contains(body, " "+rpc) {
			t.Errorf("the root page does not name %s", path)
		}
	}
	if status, body := w.get(t, "/metrics"); status != 200 || body != "up 1\n" {
		t.Errorf("/metrics: %d %q", status, body)
	}
	if status, body := w.get(t, "/no%0Asuch"); status != 404 || !strings.Contains(body, `"/no\nsuch"`) {
		t.Errorf("an unknown page: %d %q", status, body)
	}
}

func TestPagesAlone(t *testing.T) {
	s := New(Config{Service: newFake()})
	for path, want := range map[string]int{"/livez": 200, "/": 200, "/tidemark.v1.ClusterService/Status": 404} {
		r, _ := http.NewRequest(http.MethodGet, path, nil)
		rec := &recorder{header: http.Header{}}
		s.Pages().ServeHTTP(rec, r)
		if rec.status != want {
			t.Errorf("%s: %d, want %d", path, rec.status, want)
		}
	}
}

func TestPagesOnAnAddressOfTheirOwn(t *testing.T) {
	w := start(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", w.Pages())
	mux.HandleFunc("/more", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "more") })
	served := make(chan error, 1)
	go func() { served <- w.ServePages(l, mux) }()
	for path, want := range map[string]int{"/livez": 200, "/more": 200, "/tidemark.v1.ClusterService/Status": 404} {
		res, err := w.json.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
	if n := w.Stats().Connections; n != 0 {
		t.Errorf("%d connections of the pages count as the API's", n)
	}
	w.json.CloseIdleConnections()
	if err := w.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("ServePages: %v", err)
	}
}
