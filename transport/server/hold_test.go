package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// empties are n empty messages, each in the field of that number.
func empties(field protowire.Number, n int) []byte {
	return bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), nil), n)
}

// upgradedTo is the connection of a stream of frames, on which a test writes its own.
func upgradedTo(t *testing.T, w *world) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(nc, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", frames.Path, frames.Protocol)
	head := make([]byte, len("HTTP/1.1 101"))
	if _, err := io.ReadFull(nc, head); err != nil || !strings.HasSuffix(string(head), "101") {
		t.Fatalf("%q, %v", head, err)
	}
	return nc
}

// frame puts before a message what a stream has before it, flags and length.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// TestRefusalsTakeNoMoreThanTheBytes: a peer that nobody knows, and that reads
// nothing, does not fill the memory with refusals: its stream ends. Others are served.
func TestRefusalsTakeNoMoreThanTheBytes(t *testing.T) {
	const bytes = 256 << 10
	for name, who := range map[string]*caller{
		"a wrong token":      {callers: &book{}, authorization: "Bearer guess"},
		"nothing, and calls": {},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, f, g := newPipe(0), newFake(), gate{make(chan struct{})}
			f.before = g.hold("fetch")
			s := New(Config{Service: f, Limits: Limits{Bytes: bytes, CallsPerStream: 1}})
			done := make(chan error, 1)
			go func() {
				done <- s.stream(t.Context(), p, who, s.newHold(freeBytes), 0, func() { close(p.readEnd) }, func() { close(p.cut) })
			}()
			list := make([]*tidemarkv1.Call, 2*1024)
			for i := range list {
				list[i] = fetchCall(uint64(i))
			}
			p.in <- calls(list...)
			synctest.Wait()
			if n := s.admission.refused.Load(); n > bytes || n <= bytes-refusalMemory {
				t.Errorf("%s: %d bytes of refusals are held; want nearly %d", name, n, bytes)
			}
			if err := s.admission.take(bytes / 2); err != nil {
				t.Errorf("%s: beside the refusals no call is taken: %v", name, err)
			}
			s.admission.release(bytes / 2)
			close(g.open)
			refused := 0
			go func() {
				for m := range p.out {
					for _, r := range m.Replies {
						if r.GetError() != nil {
							refused++
						}
					}
				}
			}()
			err, want := <-done, offset.ErrBusy
			if who.callers != nil {
				want = offset.ErrDenied
			}
			close(p.out)
			synctest.Wait()
			if !errors.Is(err, want) || refused == 0 || refused > bytes/refusalMemory {
				t.Errorf("%s: %d calls were refused, and the stream ended with %v", name, refused, err)
			}
			if st := s.Stats(); st.Bytes != 0 || st.Calls != 0 {
				t.Errorf("%s: after the end %+v", name, st)
			}
		})
	}
}

// TestCallsOfAMessageAreBounded, and that many are taken.
func TestCallsOfAMessageAreBounded(t *testing.T) {
	w := start(t, Config{})
	c := framedTo(t, w, "")
	most := 2 * DefaultLimits().CallsPerStream
	list := make([]*tidemarkv1.Call, most)
	for i := range list {
		list[i] = &tidemarkv1.Call{Id: uint64(i + 1)}
	}
	if got := answered(t, c, list...); len(got) != most {
		t.Errorf("%d answers to %d calls", len(got), most)
	}
	if err := c.Send(calls(append(list, &tidemarkv1.Call{})...)); err != nil {
		t.Fatal(err)
	}
	if m, err := c.Recv(); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), fmt.Sprint(most+1, " calls")) {
		t.Errorf("a message of one call more: %d replies, %v", len(m.GetReplies()), err)
	}
}

// TestElementsOfAMessageAreBounded, by whatever way it comes: an empty one takes
// fifty times its bytes once it is decoded.
func TestElementsOfAMessageAreBounded(t *testing.T) {
	w := start(t, Config{})
	topics := empties(3, maxElements+1) // of a commit
	commit := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), topics)
	message := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), commit)
	nc := upgradedTo(t, w)
	if _, err := nc.Write(frame(message)); err != nil {
		t.Fatal(err)
	}
	if end, err := io.ReadAll(nc); err != nil || !strings.Contains(string(end), "40000 elements") {
		t.Errorf("as a frame: %q, %v", end, err)
	}
	for kind, body := range map[string][]byte{
		"application/proto": topics,
		"application/json":  []byte(`{"commits": [` + strings.Repeat("{},", maxElements) + "{}]}"),
	} {
		status, answer := w.postAs(t, "OffsetService/Commit", kind, body, nil)
		if text, _ := answer["message"].(string); status != http.StatusBadRequest || !strings.Contains(text, "40000 elements") {
			t.Errorf("as %s: %d %v", kind, status, answer)
		}
	}
	body := bytes.NewReader(frame(message))
	res, err := w.h2.Post(w.url+frames.Path, "application/connect+proto", body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if end, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(end), "40000 elements") {
		t.Errorf("on Connect's stream: %q, %v", end, err)
	}
}

// TestNamesAreNoElements: a brace within a name is text.
func TestNamesAreNoElements(t *testing.T) {
	for text, want := range map[string]int{
		`{}`:                             1,
		`{"a": [{}, {"b": {}}]}`:         4,
		`{"a": "{{{", "b{": "\"{"}`:      1,
		`{"a": "\\", "b": {}}`:           2,
		`{"a": "`:                        1,
		`{"a": "{\`:                      1,
		strings.Repeat(`{"k":"}{"},`, 9): 9,
	} {
		if got := objects([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// TestLargeMessagesAreHeldAsTheyArrive: what has come of a frame, with the 64 KiB
// that are read next, and of a body counts against the bytes before it is decoded.
// What is only announced does not.
func TestLargeMessagesAreHeldAsTheyArrive(t *testing.T) {
	w := start(t, Config{})
	const size = 1 << 19
	nc := upgradedTo(t, w)
	if _, err := nc.Write(frame(make([]byte, 2*size))[:5+size]); err != nil {
		t.Fatal(err)
	}
	await(t, "a frame", func() bool { return w.Stats().Bytes == size+freeBytes })
	nc.Close()
	await(t, "its end", func() bool { return w.Stats().Bytes == 0 })

	nc, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(nc, "POST /tidemark.v1.OffsetService/Fetch HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n", 2*size)
	if _, err := nc.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	await(t, "a body", func() bool { return w.Stats().Bytes == size })
	nc.Close()
	await(t, "its end", func() bool { return w.Stats().Bytes == 0 })
	if n := w.Stats().Calls; n != 0 {
		t.Errorf("%d calls, and none came whole", n)
	}
}

// TestLargeMessagesWithoutRoom are answered with busy, and not decoded.
func TestLargeMessagesWithoutRoom(t *testing.T) {
	for _, bytes := range []int64{1 << 17, 1 << 20} { // too few for what comes, and for it decoded
		t.Run(fmt.Sprint(bytes), func(t *testing.T) { testWithoutRoom(t, bytes) })
	}
}

func testWithoutRoom(t *testing.T, bytes int64) {
	w := start(t, Config{Limits: Limits{Bytes: bytes}})
	large := commitOf(strings.Repeat("g", 1<<18), 1, 1)
	c := framedTo(t, w, "")
	got := answered(t, c, commitCall(1, large), fetchCall(7))
	for _, id := range []uint64{1, 7} {
		if err := wire.FromError(got[id].GetError()); !errors.Is(err, offset.ErrBusy) {
			t.Errorf("call %d of a frame: %v", id, err)
		}
	}
	if _, err := w.offsets().Commit(t.Context(), connect.NewRequest(large)); !errors.Is(wire.FromConnectError(err), offset.ErrBusy) {
		t.Errorf("by itself: %v", err)
	}
	bidi := w.offsets().Stream(t.Context())
	if err := bidi.Send(calls(commitCall(1, large))); err != nil {
		t.Fatal(err)
	}
	m, err := bidi.Receive()
	for err == nil && len(m.GetReplies()) == 0 { // a sign of life
		m, err = bidi.Receive()
	}
	if err == nil { // it was decoded, and the call refused
		err = wire.ToConnectError(wire.FromError(m.Replies[0].GetError()))
		_ = bidi.CloseRequest()
		_ = bidi.CloseResponse()
	}
	if !errors.Is(wire.FromConnectError(err), offset.ErrBusy) {
		t.Errorf("on Connect's stream: %v, %v", m, err)
	}
	await(t, "all to be given back", func() bool { st := w.Stats(); return st.Bytes == 0 && st.Calls == 0 })
	if n := len(w.fake.seen); n != 0 {
		t.Errorf("%d calls reached the Service", n)
	}
}

// TestAMessageWithoutRoomEndsNoOther: its calls are refused, and those under way on
// its stream, and those that come after it, are answered.
func TestAMessageWithoutRoomEndsNoOther(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("fetch")
	w := start(t, Config{Service: f, Limits: Limits{Bytes: 1 << 18}})
	c := framedTo(t, w, "")
	if err := c.Send(calls(fetchCall(1))); err != nil {
		t.Fatal(err)
	}
	large := commitOf(strings.Repeat("g", 1<<19), 1, 1)
	for id := range uint64(3) {
		if got := answered(t, c, commitCall(10+id, large)); !errors.Is(wire.FromError(got[10+id].GetError()), offset.ErrBusy) {
			t.Errorf("a large message: %v", got)
		}
	}
	close(g.open)
	if err := c.Send(calls(commitCall(2, commitOf("g", 1, 1)))); err != nil {
		t.Fatal(err)
	}
	for got := map[uint64]*tidemarkv1.Reply{}; got[1].GetFetch() == nil || got[2].GetCommit() == nil; {
		m, err := c.Recv()
		if err != nil {
			t.Fatal(err, got)
		}
		for _, r := range m.Replies {
			got[r.Id] = r
		}
	}
	await(t, "all to be given back", func() bool { st := w.Stats(); return st.Bytes == 0 && st.Calls == 0 })
}

// TestCallsOfAMessageWithoutRoomAreBounded, too.
func TestCallsOfAMessageWithoutRoomAreBounded(t *testing.T) {
	w := start(t, Config{Limits: Limits{Bytes: 1 << 17}})
	nc := upgradedTo(t, w)
	large, err := proto.Marshal(calls(commitCall(1, commitOf(strings.Repeat("g", 1<<18), 1, 1))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Write(frame(append(empties(1, 10_000), large...))); err != nil {
		t.Fatal(err)
	}
	if end, err := io.ReadAll(nc); err != nil || !strings.Contains(string(end), " calls; at most 2048 ") {
		t.Errorf("%q, %v", end, err)
	}
}

// TestLargeMessagesAreGivenBack once their calls were answered, while the stream goes on.
func TestLargeMessagesAreGivenBack(t *testing.T) {
	w := start(t, Config{Limits: Limits{Bytes: 3 << 20}})
	large := commitOf("g", 1, 1)
	for q := range int32(9000) {
		large.Commits[0].QueueIds, large.Commits[0].Offsets = append(large.Commits[0].QueueIds, q), append(large.Commits[0].Offsets, 1<<60)
	}
	large.Commits[0].QueueIds, large.Commits[0].Offsets = large.Commits[0].QueueIds[1:], large.Commits[0].Offsets[1:]
	free := func() bool { st := w.Stats(); return st.Bytes == 0 && st.Calls == 0 && st.Streams > 0 }
	c, bidi := framedTo(t, w, ""), w.offsets().Stream(t.Context())
	for range 5 {
		got := answered(t, c, commitCall(1, large))
		if n := len(got[1].GetCommit().GetOffsets()); n != 9000 {
			t.Fatalf("%d offsets, %v; want 9000", n, got[1].GetError())
		}
		await(t, "a frame to be given back", free)
		if err := bidi.Send(calls(commitCall(1, large))); err != nil {
			t.Fatal(err)
		}
		m, err := bidi.Receive()
		for err == nil && len(m.GetReplies()) == 0 { // a sign of life
			m, err = bidi.Receive()
		}
		if err != nil || len(m.Replies[0].GetCommit().GetOffsets()) != 9000 {
			t.Fatalf("%v, %v; want 9000 offsets", m.GetReplies(), err)
		}
		await(t, "a message to be given back", free)
	}
	if err := bidi.CloseRequest(); err != nil {
		t.Error(err)
	}
	_ = bidi.CloseResponse()
}

// TestARefusedBodyHoldsNothing while the rest of it is read, so that it takes no room
// from others.
func TestARefusedBodyHoldsNothing(t *testing.T) {
	w := start(t, Config{Limits: Limits{Bytes: 1 << 18, Body: 6 * patience}})
	nc, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	fmt.Fprintf(nc, "POST /tidemark.v1.OffsetService/Fetch HTTP/1.1\r\nHost: x\r\nContent-Type: application/proto\r\nContent-Length: %d\r\n\r\n", 1<<20)
	if _, err := nc.Write(make([]byte, 1<<19)); err != nil {
		t.Fatal(err)
	}
	await(t, "a refusal", func() bool { return w.Stats().Busy == 1 })
	await(t, "all to be given back", func() bool { return w.Stats().Bytes == 0 })
	if n := w.running.count(); n != 1 {
		t.Errorf("%d requests are served, want the one whose body has not come", n)
	}
}
