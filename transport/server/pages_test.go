package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// TestPagesUnreadAreCutOff on the operators' address, too, however long they take to
// be made.
func TestPagesUnreadAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Service: newFake()})
		server, nc := net.Pipe()
		ended, served := make(chan error, 1), make(chan error, 1)
		var wrote time.Time
		go func() {
			served <- s.ServePages(&single{conns: make(chan net.Conn), first: server}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(time.Minute) // a profile, say
				if err := r.Context().Err(); err != nil {
					t.Error(err)
				}
				wrote = time.Now()
				_, err := w.Write(make([]byte, 1<<20))
				ended <- err
			}))
		}()
		go io.WriteString(nc, "GET /profile HTTP/1.1\r\nHost: x\r\n\r\n")
		if err := <-ended; err == nil || time.Since(wrote) != DefaultLimits().Stall {
			t.Errorf("an unread page ended after %s with %v", time.Since(wrote), err)
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
