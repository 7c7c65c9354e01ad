package server

import (
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/transport/frames"
)

// fleeting is a ResponseWriter that, like that of HTTP/2, has no stream any more once
// its handler has returned. When a deadline begins to be set, it says so.
type fleeting struct {
	recorder
	stream *[]time.Time
	begun  chan struct{}
}

func (f *fleeting) SetReadDeadline(at time.Time) error {
	f.begun <- struct{}{}
	*f.stream = append(*f.stream, at)
	return nil
}

func (f *fleeting) SetWriteDeadline(at time.Time) error { return f.SetReadDeadline(at) }

// TestALateTimerTouchesNoResponseWriter whose handler has returned; and the handler of
// one that is touched returns after that.
func TestALateTimerTouchesNoResponseWriter(t *testing.T) {
	var d *connDeadlines
	w, deadlines := &fleeting{begun: make(chan struct{}, 9)}, []time.Time{}
	w.header, w.stream = http.Header{}, &deadlines
	s := New(Config{Service: newFake()})
	h := s.checked(connect.NewErrorWriter(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		d = deadlinesOf(r.Context())
		go d.interrupt()
		<-w.begun
	}))
	r, err := http.NewRequest(http.MethodPost, "http://node"+frames.Path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.ProtoMajor = 2
	r.Header.Set("Content-Type", "application/connect+proto")
	h.ServeHTTP(w, r)
	w.stream = nil
	d.interrupt()
	d.cutOff()
	if len(deadlines) != 1 {
		t.Errorf("deadlines were set: %v, want one", deadlines)
	}
}
