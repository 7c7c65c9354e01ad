package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

func (w *world) cluster() tidemarkv1connect.ClusterServiceClient {
	return tidemarkv1connect.NewClusterServiceClient(w.h2, w.url)
}

// backedUp makes a call for a backup to its end: its bytes, and what its last
// message says.
func (w *world) backedUp(ctx context.Context, q *tidemarkv1.BackupRequest) (data string, last *tidemarkv1.BackupResponse, err error) {
	in, err := w.cluster().Backup(ctx, connect.NewRequest(q))
	if err != nil {
		return "", nil, wire.FromConnectError(err)
	}
	defer in.Close()
	for in.Receive() {
		if last != nil {
			return data, last, errors.New("a message after the last")
		}
		if data += string(in.Msg().GetData()); in.Msg().Total != nil {
			last = in.Msg()
		}
	}
	return data, last, wire.FromConnectError(in.Err())
}

// TestBackupStreamsAllAndTellsHowMuch, at the level asked for.
func TestBackupStreamsAllAndTellsHowMuch(t *testing.T) {
	w := start(t, Config{})
	data, last, err := w.backedUp(t.Context(), &tidemarkv1.BackupRequest{Level: tidemarkv1.ReadLevel_READ_LEVEL_LOCAL})
	if err != nil || data != "one backup" || last.GetTotal() != uint64(len(data)) || last.GetQueues() != 3 || last.GetMeta().GetClusterId() != fakeCluster.String() {
		t.Errorf("%q, %v, %v", data, last, err)
	}
	if _, _, err := w.backedUp(t.Context(), &tidemarkv1.BackupRequest{Level: 99}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("at a level that there is not: %v", err)
	}
}

// TestBackupThatFails half way has no last message, and says why; so nobody takes
// what has come for a whole one (rqlite/rqlite#2050).
func TestBackupThatFails(t *testing.T) {
	for _, n := range []int{0, 1} {
		f := &failingBackup{fake: newFake(), after: n}
		w := start(t, Config{Service: f})
		data, last, err := w.backedUp(t.Context(), &tidemarkv1.BackupRequest{})
		if !errors.Is(err, offset.ErrNotReady) || !strings.Contains(err.Error(), "the member stops") || last != nil || data != strings.Repeat("one ", n) {
			t.Errorf("after %d pieces: %q, %v, %v", n, data, last, err)
		}
	}
}

// failingBackup fails after so many pieces.
type failingBackup struct {
	*fake
	after int
}

func (f *failingBackup) Backup(ctx context.Context, p auth.Principal, at offset.ReadAt, yield func(offset.BackupPart) error) error {
	n := 0
	err := f.fake.Backup(ctx, p, at, func(part offset.BackupPart) error {
		if n++; n > f.after {
			return offset.Errorf(offset.ErrNotReady, "the member stops")
		}
		return yield(part)
	})
	return err
}

// TestBackupsAndExportsAreBoundedTogether: each holds a root and a connection.
func TestBackupsAndExportsAreBoundedTogether(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("export")
	w := start(t, Config{Service: f, Limits: Limits{Exports: 1}})
	first := make(chan error, 1)
	go func() {
		in, err := w.groups().Export(t.Context(), connect.NewRequest(&tidemarkv1.ExportRequest{}))
		if err == nil {
			for in.Receive() {
			}
			err = errors.Join(in.Err(), in.Close())
		}
		first <- err
	}()
	await(t, "the export", func() bool { return len(w.Server.exports) == 1 })
	if _, _, err := w.backedUp(t.Context(), &tidemarkv1.BackupRequest{}); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("a backup beside one export of one: %v", err)
	}
	close(g.open)
	if err := <-first; err != nil {
		t.Errorf("the export: %v", err)
	}
	if data, _, err := w.backedUp(t.Context(), &tidemarkv1.BackupRequest{}); err != nil || data != "one backup" {
		t.Errorf("after it: %q, %v", data, err)
	}
}

// TestATokenTakenBackEndsItsBackup: no byte comes after that.
func TestATokenTakenBackEndsItsBackup(t *testing.T) {
	b, secret, f := &book{}, "s", newFake()
	b.token.Store(&secret)
	f.before = func(context.Context, string) error {
		b.token.Store(nil)
		b.generation.Add(1)
		return nil
	}
	answer := send(New(Config{Service: f, Callers: b}), "ClusterService/Backup", "application/connect+json")
	if !strings.Contains(answer, "not known") || strings.Contains(answer, "data") {
		t.Error(answer)
	}
}
