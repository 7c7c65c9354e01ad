package wire

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// many is a message of a stream with calls of topics each.
func many(t testing.TB, calls, topics int) []byte {
	t.Helper()
	m := &tidemarkv1.StreamRequest{}
	for i := range calls {
		c := &tidemarkv1.CommitRequest{ClusterId: "00000000000000000000000000000009", TimeoutMs: 1000}
		for q := range topics {
			c.Commits = append(c.Commits, &tidemarkv1.TopicCommits{
				Group: "billing", Topic: "orders", Broker: "broker-a", QueueIds: []int32{int32(q)}, Offsets: []int64{77}, Epochs: []uint64{5},
			})
		}
		m.Calls = append(m.Calls, &tidemarkv1.Call{Id: uint64(i + 1), Call: &tidemarkv1.Call_Commit{Commit: c}})
	}
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestElementsAreCounted(t *testing.T) {
	reset, err := proto.Marshal(&tidemarkv1.ResetRequest{Act: &tidemarkv1.ActHeader{}, Targets: []*tidemarkv1.Target{{Key: &tidemarkv1.Key{Group: "g"}}, {}}})
	if err != nil {
		t.Fatal(err)
	}
	stream := (*tidemarkv1.StreamRequest)(nil)
	for name, c := range map[string]struct {
		kind proto.Message
		b    []byte
		most int
		want int
	}{
		"nothing":                      {stream, nil, 10, 0},
		"calls, requests and topics":   {stream, many(t, 3, 5), 100, 3 + 3 + 15},
		"as many as are allowed":       {stream, many(t, 3, 5), 21, 21},
		"one more than are allowed":    {stream, many(t, 3, 5), 20, 21},
		"far more than are allowed":    {stream, bytes.Repeat([]byte{0x0a, 0}, 1000), 7, 8},
		"empty ones":                   {stream, bytes.Repeat([]byte{0x0a, 0}, 1000), 2000, 1000},
		"header, targets and a key":    {(*tidemarkv1.ResetRequest)(nil), reset, 100, 1 + 2 + 1},
		"fields that hold no messages": {(*tidemarkv1.TopicCommits)(nil), bytes.Repeat([]byte{0x0a, 0}, 1000), 2000, 0},
		"an unknown field":             {stream, []byte{0x7a, 2, 0x0a, 0, 0x0a, 0}, 10, 1},
		"another kind of field":        {stream, []byte{0x08, 1, 0x0a, 0}, 10, 1},
		"up to what cannot be read":    {stream, []byte{0x0a, 0, 0x0a, 9, 0x0a, 0}, 10, 1},
		"up to what is no field":       {stream, []byte{0x0a, 0, 0xff}, 10, 1},
	} {
		if got := Elements(c.kind, c.b, c.most); got != c.want {
			t.Errorf("%s: %d elements, want %d", name, got, c.want)
		}
	}
}

// TestElementsCostNoMemory: they are counted of each large message that comes.
func TestElementsCostNoMemory(t *testing.T) {
	b := many(t, 1, 100)
	if n := testing.AllocsPerRun(100, func() { Elements((*tidemarkv1.StreamRequest)(nil), b, 1000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
