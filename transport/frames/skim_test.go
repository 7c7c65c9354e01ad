package frames

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

var errFull = offset.Errorf(offset.ErrBusy, "full")

// full is a stream on which in comes, of which there is room for the first bytes alone.
func full(in []byte, room int) *framed {
	f := &framed{nc: new(net.TCPConn), r: bufio.NewReader(bytes.NewReader(in)), limit: 1 << 20, Calls: 10}
	f.Arriving = func(n int) error {
		if room -= n; room < 0 {
			return errFull
		}
		return nil
	}
	f.Arrived = func([]byte) error { return errFull }
	return f
}

// encoded is m as a frame.
func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, prefix), m)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-prefix))
	return b
}

// large is several times what is read at once.
func large() *tidemarkv1.StreamRequest {
	return mixed(string(bytes.Repeat([]byte("\x08\x01\x0a"), buffer)))
}

// mixed is a message of calls of each kind, with a long name.
func mixed(long string) *tidemarkv1.StreamRequest {
	m := &tidemarkv1.StreamRequest{}
	for i, id := range []uint64{7, 0, math.MaxUint64, 300, 1} {
		call := &tidemarkv1.Call{Id: id}
		switch i {
		case 0:
			call.Call = &tidemarkv1.Call_Commit{Commit: &tidemarkv1.CommitRequest{ClusterId: long, TimeoutMs: 1, Commits: make([]*tidemarkv1.TopicCommits, 3)}}
		case 2:
			call.Call = &tidemarkv1.Call_Set{Set: &tidemarkv1.SetRequest{Offset: 5, Key: &tidemarkv1.Key{Group: long}}}
		case 3:
			call.Call = &tidemarkv1.Call_Fetch{Fetch: &tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{{Topic: "t"}}}}
		}
		m.Calls = append(m.Calls, call)
	}
	return m
}

// TestAMessageWithoutRoom is read to its end, whether the room ends within it or
// once it is here: the ids of its calls are known, and the next one is read.
func TestAMessageWithoutRoom(t *testing.T) {
	in := append(encoded(t, large()), encoded(t, request(2))...)
	for _, room := range []int{0, buffer, 3 * buffer, len(in)} {
		f := full(in, room)
		for _, want := range []*tidemarkv1.StreamRequest{large(), request(2)} {
			m := new(tidemarkv1.StreamRequest)
			if err := f.receive(m); !errors.Is(err, offset.ErrBusy) || len(m.Calls) != len(want.Calls) {
				t.Fatalf("room for %d bytes: %d calls, %v", room, len(m.Calls), err)
			}
			for i, call := range m.Calls {
				if call.Id != want.Calls[i].Id || call.Call != nil {
					t.Errorf("room for %d bytes: call %d is %d, want %d", room, i, call.Id, want.Calls[i].Id)
				}
			}
		}
		if err := f.receive(new(tidemarkv1.StreamRequest)); err != io.ErrUnexpectedEOF {
			t.Errorf("after the last: %v", err)
		}
	}
}

// TestAMessageWithoutRoomThatIsNone has its error, as where there is room.
func TestAMessageWithoutRoomThatIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		message []byte
		cut     int
		want    error
	}{
		"a cut message":     {[]byte{0x0a, 2, 8, 1}, 1, io.ErrUnexpectedEOF},
		"a cut length":      {[]byte{0x0a, 2, 8, 1, 0x0a}, 0, offset.ErrInvalid},
		"a field too long":  {[]byte{0x0a, 9, 0x12, 200, 1}, 0, offset.ErrInvalid},
		"a long that is -1": {[]byte{0x0a, 9, 0x12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 0, offset.ErrInvalid},
		"no such type":      {[]byte{0x0f}, 0, offset.ErrInvalid},
		"an id of no call":  {[]byte{8, 1}, 0, offset.ErrBusy},
	} {
		in := append([]byte{0, 0, 0, 0, byte(len(c.message))}, c.message...)
		if err := full(in[:len(in)-c.cut], 0).receive(new(tidemarkv1.StreamRequest)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	m := new(tidemarkv1.StreamRequest)
	if err := full(encoded(t, request(1000)), 0).receive(m); !errors.Is(err, offset.ErrBusy) || len(m.Calls) != 11 {
		t.Errorf("of too many calls %d are told, %v", len(m.Calls), err)
	}
}

// FuzzSkim: of whatever is a message the ids are found, with or without room.
func FuzzSkim(f *testing.F) {
	f.Add(encoded(f, mixed("\x08\x01\x0a"))[prefix:])
	f.Add(encoded(f, request(3))[prefix:])
	f.Add([]byte{0x0a, 4, 8, 1, 8, 2, 0x0a, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		want := new(tidemarkv1.StreamRequest)
		if proto.Unmarshal(in, want) != nil || len(want.ProtoReflect().GetUnknown()) > 0 {
			return
		}
		for _, call := range want.Calls {
			if len(call.ProtoReflect().GetUnknown()) > 0 {
				return
			}
		}
		calls, err := idsOf(bufio.NewReader(bytes.NewReader(in)), len(want.Calls))
		if err != nil || len(calls) != len(want.Calls) {
			t.Fatalf("%d calls of %d, %v", len(calls), len(want.Calls), err)
		}
		for i, call := range calls {
			if call.Id != want.Calls[i].Id {
				t.Fatalf("call %d is %d, not %d", i, call.Id, want.Calls[i].Id)
			}
		}
	})
}
