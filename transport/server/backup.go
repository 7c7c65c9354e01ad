package server

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Backup streams the bytes of a backup. The last message says how many there were.
func (c cluster) Backup(ctx context.Context, r *connect.Request[tidemarkv1.BackupRequest], out *connect.ServerStream[tidemarkv1.BackupResponse]) error {
	b := &backup{outflow: c.srv.outflow(ctx), out: out}
	m := &method[tidemarkv1.BackupRequest, tidemarkv1.BackupResponse]{
		name: "backup", items: one[tidemarkv1.BackupRequest], serve: b.serve,
		wait: func(l *Limits, m *tidemarkv1.BackupRequest) time.Duration {
			return l.timeout(m.GetTimeoutMs(), l.ExportTimeout)
		},
	}
	return flow(ctx, c.srv, m, r.Msg, b.out.Send)
}

// backup is one under way.
type backup struct {
	outflow
	out   *connect.ServerStream[tidemarkv1.BackupResponse]
	total uint64
	last  offset.BackupPart // without its bytes
}

// serve sends all pieces and returns the message that ends the backup.
func (b *backup) serve(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.BackupRequest) (*tidemarkv1.BackupResponse, error) {
	at, err := wire.FromBackupRequest(m)
	if err != nil {
		return nil, err
	}
	if err := s.Backup(ctx, p, at, func(part offset.BackupPart) error { return b.part(ctx, part) }); err != nil {
		return nil, err
	}
	last := wire.ToBackupResponse(b.last)
	last.Total = proto.Uint64(b.total)
	return last, nil
}

func (b *backup) part(ctx context.Context, part offset.BackupPart) error {
	if err := b.goesOn(ctx); err != nil {
		return err
	}
	if err := b.out.Send(wire.ToBackupResponse(part)); err != nil {
		return err
	}
	b.total += uint64(len(part.Data))
	part.Data = nil
	b.last = part
	return nil
}
