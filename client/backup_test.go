package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Backup sends three pieces; it breaks off after the first if the script says
// cut, sends nothing more if it says lose, and counts one byte more if it says
// loseAnswer.
func (n *fakeNode) Backup(ctx context.Context, q *connect.Request[tidemarkv1.BackupRequest], s *connect.ServerStream[tidemarkv1.BackupResponse]) error {
	f, err := n.c.came(n, "backup")
	if f == refuse {
		return wire.ToConnectError(err)
	}
	part := offset.BackupPart{Meta: n.c.state.meta(n.c.leads()), Queues: 7}
	for _, data := range []string{"of ", n.addr, " at " + q.Msg.GetLevel().String()} {
		part.Data = []byte(data)
		if err := s.Send(wire.ToBackupResponse(part)); err != nil {
			return err
		}
		switch f {
		case cut:
			return nil
		case lose:
			<-ctx.Done()
			return ctx.Err()
		}
	}
	part.Data = nil
	last := wire.ToBackupResponse(part)
	last.Total = proto.Uint64(uint64(len("of " + n.addr + " at " + q.Msg.GetLevel().String())))
	if f == loseAnswer {
		*last.Total++ // as if a piece were lost
	}
	return s.Send(last)
}

// backedUp collects a backup.
type backedUp struct {
	data   string
	queues uint64
}

func (b *backedUp) yield(p offset.BackupPart) error {
	b.data += string(p.Data)
	b.queues = p.Queues
	return nil
}

// TestBackupIsWholeOrAnError: begun again while nothing has come, and never after
// something has; the node and the level are those asked for.
func TestBackupIsWholeOrAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			switch nth {
			case 1, 6:
				return refuse, offset.ErrNotReady
			case 4:
				return cut, nil
			case 5:
				return loseAnswer, nil
			}
			return none, nil
		})
		c := f.client()
		const linearizable, local = "READ_LEVEL_LINEARIZABLE", "READ_LEVEL_LOCAL"
		var b backedUp
		if err := c.Backup(within(t, time.Second), "", offset.ReadAt{}, b.yield); err != nil || b.queues != 7 || b.data != "of a:1 at "+linearizable && b.data != "of b:1 at "+linearizable {
			t.Fatalf("%v, %+v", err, b)
		}
		b = backedUp{}
		if err := c.Backup(within(t, time.Second), "b:1", offset.ReadAt{Level: offset.Local}, b.yield); err != nil || b.data != "of b:1 at "+local {
			t.Fatalf("of a node: %v, %+v", err, b)
		}
		b = backedUp{}
		if err := c.Backup(within(t, time.Second), "", offset.ReadAt{}, b.yield); !errors.Is(err, offset.ErrUnreachable) || b.data != "of " {
			t.Fatalf("a stream that broke off gave %v and %q", err, b.data)
		}
		if err := c.Backup(within(t, time.Second), "", offset.ReadAt{}, b.yield); !errors.Is(err, offset.ErrUnreachable) {
			t.Fatalf("a stream that lacks a byte gave %v", err)
		}
		b = backedUp{}
		if err := c.Backup(within(t, time.Second), "a:1", offset.ReadAt{}, b.yield); !errors.Is(err, offset.ErrNotReady) || b.data != "" {
			t.Fatalf("a node that is not ready, and no other is asked: %v, %q", err, b.data)
		}
		enough := errors.New("enough")
		if err := c.Backup(within(t, time.Second), "", offset.ReadAt{}, func(offset.BackupPart) error { return enough }); err != enough {
			t.Fatalf("%v; want the error of yield as it is", err)
		}
	})
}

// A backup that its caller stops does not wait for the rest of it.
func TestBackupThatIsStoppedAwaitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		enough := errors.New("enough")
		began := time.Now()
		err := f.client().Backup(context.Background(), "", offset.ReadAt{}, func(offset.BackupPart) error { return enough })
		if took := time.Since(began); err != enough || took != 0 {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// A node that stands still half way is given up at the deadline.
func TestBackupEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		var b backedUp
		err := f.client().Backup(within(t, time.Second), "", offset.ReadAt{}, b.yield)
		if err == nil || b.data != "of " {
			t.Errorf("%v, %q", err, b.data)
		}
	})
}
