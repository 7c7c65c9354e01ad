package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// TestOneConnectionTooManyIsToldWhy: by an answer to each call, however it comes,
// so that nobody is left in doubt whether a call was taken; and its place is free
// again soon.
func TestOneConnectionTooManyIsToldWhy(t *testing.T) {
	for option, limits := range map[string]Limits{
		"--limit-connections": {Connections: 1},
		"--limit-per-address": {PerAddress: 1},
	} {
		w := start(t, Config{Limits: limits})
		first, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		await(t, "the first connection", func() bool { return w.Stats().Connections == 1 })
		status, answer := w.post(t, "ClusterService/Status", "{}")
		if text, _ := answer["message"].(string); status != http.StatusTooManyRequests || !strings.Contains(text, option) {
			t.Errorf("a call as curl makes it: %d %v, want one that names %s", status, answer, option)
		}
		bidi := w.offsets().Stream(t.Context())
		if err := bidi.Send(calls(commitCall(1, commitOf("g", 0, 5)))); err != nil {
			t.Fatal(err)
		}
		m, err := bidi.Receive()
		if err != nil || len(m.GetReplies()) != 1 {
			t.Fatalf("a stream: %v, %v", m, err)
		}
		if err := wire.FromError(m.Replies[0].GetError()); !errors.Is(err, offset.ErrBusy) || !strings.Contains(err.Error(), option) {
			t.Errorf("a call on a stream: %v, want one that names %s", err, option)
		}
		if _, err := bidi.Receive(); err == nil {
			t.Error("the connection is not closed")
		}
		if st := w.Stats(); st.RefusedConnections < 2 || st.Connections != 1 {
			t.Errorf("%+v", st)
		}
		first.Close()
		await(t, "a free place", func() bool {
			status, _ := w.post(t, "ClusterService/Status", "{}")
			return status == http.StatusOK
		})
	}
}

// TestSilentConnectionsBeyondTheBoundAreClosed: those that say nothing too.
func TestSilentConnectionsBeyondTheBoundAreClosed(t *testing.T) {
	w := start(t, Config{Limits: Limits{Connections: 1}})
	first, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	await(t, "the first connection", func() bool { return w.Stats().Connections == 1 })
	ended := make(chan error, maxRefusing+10)
	for range cap(ended) {
		go func() { ended <- dialAndRead(t, w.addr) }() // awaited below
	}
	for range cap(ended) {
		if err := <-ended; err != io.EOF && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
			t.Errorf("a connection beyond the bound got %v", err)
		}
	}
	if st := w.Stats(); st.RefusedConnections != int64(cap(ended)) || st.Connections != 1 {
		t.Errorf("%+v", st)
	}
}
