package ackfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// What was written comes back in order, over two openings, and a torn last
// line is no event.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.acks")
	k := offset.Key{Group: `%RETRY%a "b"`, MessageQueue: offset.MessageQueue{Topic: "sp ace", Broker: "broker-a"}}
	for i := range int64(2) {
		w, err := Open(path, k)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(Acknowledged, map[int32]int64{3: 10 + i}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tear(t, path, "A 17 0 9")
	got, events, err := ReadFile(path)
	if err != nil || got != k {
		t.Fatalf("read %v, %v; want %v", got, err, k)
	}
	if len(events) != 2 || events[0].Offset != 10 || events[1].Offset != 11 || events[1].Queue != 3 || events[1].Kind != Acknowledged {
		t.Fatalf("events %+v", events)
	}
}

func tear(t *testing.T, path, s string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}
