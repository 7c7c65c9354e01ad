package peer

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestAConnectionPushedOutIsNotAdmitted: one that has to make room while its
// handshake ends leaves nothing behind, or a member that starts anew would be
// told that the process before it still runs.
func TestAConnectionPushedOutIsNotAdmitted(t *testing.T) {
	b := newBooks()
	come := func(run RunID) *conn {
		here, there := net.Pipe()
		t.Cleanup(func() { there.Close() })
		c := &conn{Conn: here}
		oldest, err := b.receive(c, 1)
		if err != nil {
			t.Fatal(err)
		}
		b.introduce(c, greeting{id: "n1/a", run: run})
		if oldest != nil {
			oldest.Close()
		}
		return c
	}
	before := come(NewRunID())
	after := come(NewRunID())
	if err := b.admit(before, time.Hour, 8); !errors.Is(err, offset.ErrClosed) {
		t.Errorf("the one that was pushed out: %v", err)
	}
	if err := b.admit(after, time.Hour, 8); err != nil {
		t.Errorf("the one that came after: %v", err)
	}
	after.Close()
	if len(b.all) != 0 || len(b.strangers) != 0 || len(b.guests) != 0 || b.members != 0 {
		t.Errorf("left behind: %d connections, %d strangers, %d guests, %d members", len(b.all), len(b.strangers), len(b.guests), b.members)
	}
}
