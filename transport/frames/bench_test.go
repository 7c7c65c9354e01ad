package frames

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"testing"

	"google.golang.org/protobuf/proto"

	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// again is a connection on which one frame comes for ever.
type again struct {
	net.Conn
	frame []byte
	at    int
}

func (a *again) Read(b []byte) (int, error) {
	n := copy(b, a.frame[a.at:])
	a.at = (a.at + n) % len(a.frame)
	return n, nil
}

// BenchmarkReceive is a message of one commit each of some calls, or of many
// commits of one, as it is read, counted and decoded.
func BenchmarkReceive(b *testing.B) {
	for _, c := range []struct{ calls, topics int }{{1, 1}, {1, 60}, {1, 256}, {256, 1}} {
		b.Run(fmt.Sprintf("%dx%d", c.calls, c.topics), func(b *testing.B) {
			m := &tidemarkv1.StreamRequest{}
			for i := range c.calls {
				q := &tidemarkv1.CommitRequest{ClusterId: "00000000000000000000000000000009", TimeoutMs: 1000}
				for range c.topics {
					q.Commits = append(q.Commits, &tidemarkv1.TopicCommits{
						Group: "billing-of-the-shop", Topic: "orders", Broker: "broker-a", QueueIds: []int32{3}, Offsets: []int64{123456789}, Epochs: []uint64{5},
					})
				}
				m.Calls = append(m.Calls, &tidemarkv1.Call{Id: uint64(i + 1), Call: &tidemarkv1.Call_Commit{Commit: q}})
			}
			frame, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, prefix), m)
			if err != nil {
				b.Fatal(err)
			}
			binary.BigEndian.PutUint32(frame[1:], uint32(len(frame)-prefix))
			s := &Server{framed{r: bufio.NewReaderSize(&again{frame: frame}, buffer), limit: 1 << 20}}
			s.Arriving = func(int) error { return nil }
			s.Arrived = func(message []byte) error {
				if len(message) > 16<<10 {
					wire.Elements(m, message, 40_000)
				}
				return nil
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if _, err := s.Receive(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
