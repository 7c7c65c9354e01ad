package peer

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	peerv1 "github.com/tidemark-mq/tidemark/transport/api/peer/v1"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// FuzzCalls: whatever a member says in a call, its readers neither panic, nor take
// what is out of bounds, nor let an error through that forges a line or belongs to
// no code.
func FuzzCalls(f *testing.F) {
	hello := Hello{ID: "n1/1", Cluster: clusterA, MaxLevel: 1, Level: 1, Peer: "h:1", API: "h:2"}
	for which, m := range []proto.Message{
		toHello(hello),
		toFounding(Founding{Cluster: clusterA, Founders: []Founder{{ID: "n1/1", Peer: "h:1"}}}),
		toDigest(Checkpoint{Known: true, Digest: offset.Digest{1}}),
		&peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_Remove{Remove: &tidemarkv1.RemoveRequest{Act: &tidemarkv1.ActHeader{Id: strings.Repeat("0", 31) + "1"}}}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(which), b)
	}
	f.Add(uint8(0), []byte("\n\x04n\x001/1"))
	f.Add(uint8(1), []byte("\n\x20"+strings.Repeat("0", 32)))
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		err := fuzzCall(t, which%4, b)
		if e := (*offset.Error)(nil); err != nil && (!errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\r\x1b\x00")) {
			t.Fatalf("the error is %q", err)
		}
	})
}

func fuzzCall(t *testing.T, which uint8, b []byte) error {
	switch which {
	case 0:
		var m peerv1.HelloResponse
		if proto.Unmarshal(b, &m) != nil {
			return nil
		}
		h, err := fromHello(&m)
		if err == nil && (h.ID == "" || len(h.Founders) > MaxFounders || uint32(h.MaxLevel) != m.GetMaxLevel() || uint32(h.Level) != m.GetLevel()) {
			t.Fatalf("taken: %+v", h)
		}
		return err
	case 1:
		var m peerv1.FoundRequest
		if proto.Unmarshal(b, &m) != nil {
			return nil
		}
		g, err := fromFounding(&m)
		if err == nil && (g.Cluster.IsZero() || len(g.Founders) == 0 || len(g.Founders) > offset.MaxMembers) {
			t.Fatalf("taken: %+v", g)
		}
		return err
	case 2:
		var m peerv1.DigestResponse
		if proto.Unmarshal(b, &m) != nil {
			return nil
		}
		_, err := fromDigest(&m)
		return err
	}
	var m peerv1.ForwardRequest
	if proto.Unmarshal(b, &m) != nil {
		return nil
	}
	_, err := fromAct(&m)
	return err
}
