package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

func (w *world) groups() tidemarkv1connect.GroupServiceClient {
	return tidemarkv1connect.NewGroupServiceClient(w.h2, w.url)
}

func (f *fake) fill(n int) {
	for i := range n {
		k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: int32(i)}}
		f.keys[k] = offset.Position{Offset: math.MaxInt64 - int64(i), Index: 3}
	}
}

func TestActsReachTheService(t *testing.T) {
	w := start(t, Config{})
	var answers []*tidemarkv1.ActResponse
	header := func(n int) *tidemarkv1.ActHeader {
		return &tidemarkv1.ActHeader{Id: fmt.Sprintf("%032x", n), Base: 7, ClusterId: fakeCluster.String(), Claim: 3}
	}
	keep := func(r *connect.Response[tidemarkv1.ActResponse], err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, r.Msg)
	}
	api, ctx := w.groups(), t.Context()
	targets := []*tidemarkv1.Target{{Key: keyOf("g", 1), Offset: 5}}
	keep(api.Reset(ctx, connect.NewRequest(&tidemarkv1.ResetRequest{Act: header(1), Targets: targets})))
	keep(api.Remove(ctx, connect.NewRequest(&tidemarkv1.RemoveRequest{Act: header(2), Scope: &tidemarkv1.Scope{Group: "g", Broker: proto.String("")}})))
	keep(api.Clone(ctx, connect.NewRequest(&tidemarkv1.CloneRequest{Act: header(3), From: "a", To: "b"})))
	keep(api.Expire(ctx, connect.NewRequest(&tidemarkv1.ExpireRequest{Act: header(4), Groups: []*tidemarkv1.IdleGroup{{Group: "g", Seen: 9}}})))
	keep(api.Claim(ctx, connect.NewRequest(&tidemarkv1.ClaimRequest{Act: header(5), Scope: &tidemarkv1.ClaimRequest_Broker{Broker: "b1"}, Holder: "me"})))
	keep(api.Import(ctx, connect.NewRequest(&tidemarkv1.ImportRequest{Act: header(6), Step: tidemarkv1.ImportStep_IMPORT_STEP_CHUNK, Chunk: 2, Targets: targets})))

	for i, a := range w.fake.acts {
		if a.ID != (offset.ActID{15: byte(i + 1)}) || a.Base != 7 || a.Cluster != fakeCluster || a.Claim != 3 {
			t.Errorf("act %d has the header %v %d %v %d", i, a.ID, a.Base, a.Cluster, a.Claim)
		}
		if answers[i].GetIndex() == 0 || !answers[i].GetDone() || answers[i].GetMeta().GetClusterId() != fakeCluster.String() {
			t.Errorf("act %d was answered with %v", i, answers[i])
		}
	}
	a := w.fake.acts
	switch {
	case len(a) != 6, a[0].Reset.Targets[0].Offset != 5, a[2].Clone.To != "b", a[3].Expire.Groups[0].Seen != 9,
		!a[1].Remove.Scope.HasBroker, !a[4].Take.ByBroker || a[4].Take.Holder != "me", a[5].Import.Chunk != 2:
		t.Errorf("the acts are %+v", a)
	}
}

// An import is known again by its hash, so that it cannot begin without one.
func TestImportNeedsAHash(t *testing.T) {
	w := start(t, Config{})
	head := &tidemarkv1.ActHeader{Id: fmt.Sprintf("%032x", 1), ClusterId: fakeCluster.String()}
	_, err := w.groups().Import(t.Context(), connect.NewRequest(&tidemarkv1.ImportRequest{Act: head, Chunks: 1}))
	if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "hash is missing") {
		t.Errorf("without: %v", err)
	}
	if _, err := w.groups().Import(t.Context(), connect.NewRequest(&tidemarkv1.ImportRequest{Act: head, Chunks: 1, Hash: strings.Repeat("ab", 32)})); err != nil {
		t.Errorf("with: %v", err)
	}
}

// What an act came to is an answer, not an error.
func TestRefusedActIsAnAnswer(t *testing.T) {
	f := newFake()
	f.act = func(context.Context, *offset.Act) (offset.ActResult, error) {
		return offset.ActResult{Code: offset.CodeSuperseded, Index: 8, Done: true, Kept: 1}, nil
	}
	w := start(t, Config{Service: f})
	res, err := w.groups().Remove(t.Context(), connect.NewRequest(&tidemarkv1.RemoveRequest{
		Act:   &tidemarkv1.ActHeader{Id: fmt.Sprintf("%032x", 1), ClusterId: fakeCluster.String()},
		Scope: &tidemarkv1.Scope{Group: "g"},
	}))
	if err != nil || res.Msg.GetCode() != uint32(offset.CodeSuperseded) || res.Msg.GetKept() != 1 {
		t.Errorf("%v, %v", res, err)
	}
}

func TestExportStreamsAllAndTellsHowMany(t *testing.T) {
	for _, n := range []int{0, 1, exportRows, 2*exportRows + 1} {
		f := newFake()
		f.fill(n)
		w := start(t, Config{Service: f})
		in, err := w.groups().Export(t.Context(), connect.NewRequest(&tidemarkv1.ExportRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		var rows []*tidemarkv1.KeyState
		var total *uint64
		messages := 0
		for in.Receive() {
			if total != nil {
				t.Errorf("%d keys: a message after the last", n)
			}
			rows, total = append(rows, in.Msg().GetStates()...), in.Msg().Total
			messages++
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		if total == nil || *total != uint64(n) || len(rows) != n || messages != (n+exportRows-1)/exportRows+1 {
			t.Errorf("%d keys: %d came in %d messages, total %v", n, len(rows), messages, total)
		}
		for i, r := range rows {
			if r.GetKey().GetQueueId() != int32(i) || r.GetPosition().GetOffset() != math.MaxInt64-int64(i) {
				t.Fatalf("row %d is %v", i, r)
			}
		}
		_ = in.Close()
	}
}

func TestExportsAreBounded(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("export")
	w := start(t, Config{Service: f, Limits: Limits{Exports: 1}})
	export := func() error {
		in, err := w.groups().Export(t.Context(), connect.NewRequest(&tidemarkv1.ExportRequest{}))
		if err != nil {
			return wire.FromConnectError(err)
		}
		defer in.Close()
		for in.Receive() {
		}
		return wire.FromConnectError(in.Err())
	}
	first := make(chan error, 1)
	go func() { first <- export() }()
	await(t, "the first export", func() bool { return len(w.Server.exports) == 1 })
	if err := export(); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("the second of one export: %v", err)
	}
	close(g.open)
	if err := <-first; err != nil {
		t.Errorf("the first export: %v", err)
	}
}

// An export that fails half way has no last message, and says why.
func TestExportThatFails(t *testing.T) {
	f := newFake()
	f.before = func(context.Context, string) error { return offset.Errorf(offset.ErrNotReady, "catching up") }
	w := start(t, Config{Service: f})
	in, err := w.groups().Export(t.Context(), connect.NewRequest(&tidemarkv1.ExportRequest{}))
	if err == nil {
		for in.Receive() {
			t.Errorf("got %v", in.Msg())
		}
		err = in.Err()
		_ = in.Close()
	}
	if err = wire.FromConnectError(err); !errors.Is(err, offset.ErrNotReady) || !strings.Contains(err.Error(), "catching up") {
		t.Errorf("the export ended with %v", err)
	}
}

func TestListReachesTheService(t *testing.T) {
	w := start(t, Config{})
	_, err := w.groups().List(t.Context(), connect.NewRequest(&tidemarkv1.ListRequest{
		What: tidemarkv1.ListKind_LIST_KIND_KEYS, Group: "g", Broker: proto.String(""), Pending: true,
		NewerThan: 4, After: keyOf("g", 2), Limit: 20_000, Level: tidemarkv1.ReadLevel_READ_LEVEL_LOCAL,
	}))
	if err != nil {
		t.Fatal(err)
	}
	l := w.fake.lists[0]
	if l.What != offset.ListKeys || l.Group != "g" || !l.HasBroker || !l.Pending || l.NewerThan != 4 ||
		l.After == nil || l.After.QueueID != 2 || l.Limit != offset.MaxPage || l.At.Level != offset.Local {
		t.Errorf("the service got %+v", l)
	}
}

func TestClaimsReachTheService(t *testing.T) {
	w := start(t, Config{})
	for want, m := range map[offset.Claim]*tidemarkv1.ClaimsRequest{
		{ByBroker: true, Name: "b", Holder: "h", Index: 7}: {Scope: &tidemarkv1.ClaimsRequest_Broker{Broker: "b"}},
		{Name: "g", Holder: "h", Index: 7}:                 {Scope: &tidemarkv1.ClaimsRequest_Group{Group: "g"}},
	} {
		a, err := w.groups().Claims(t.Context(), connect.NewRequest(m))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := wire.FromClaimsResponse(a.Msg); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestClusterCallsReachTheService(t *testing.T) {
	var got []string
	f := newFake()
	f.before = func(_ context.Context, method string) error { got = append(got, method); return nil }
	w := start(t, Config{Service: f})
	api, ctx := tidemarkv1connect.NewClusterServiceClient(w.h2, w.url), t.Context()
	must := func(ok bool, err error) {
		t.Helper()
		if err != nil || !ok {
			t.Errorf("answered %v, %v", ok, err)
		}
	}
	_, err := api.AddMember(ctx, connect.NewRequest(&tidemarkv1.AddMemberRequest{Id: "n4/dd", PeerAddress: "h:7412"}))
	must(true, err)
	_, err = api.PromoteMember(ctx, connect.NewRequest(&tidemarkv1.PromoteMemberRequest{Id: "n4/dd"}))
	must(true, err)
	_, err = api.RemoveMember(ctx, connect.NewRequest(&tidemarkv1.RemoveMemberRequest{Id: "n4"}))
	must(true, err)
	tr, err := api.Transfer(ctx, connect.NewRequest(&tidemarkv1.TransferRequest{To: "n2"}))
	must(err == nil && tr.Msg.GetLeaderId() == "n2/bb", err)
	sn, err := api.Snapshot(ctx, connect.NewRequest(&tidemarkv1.SnapshotRequest{}))
	must(err == nil && sn.Msg.GetIndex() == 7 && sn.Msg.GetBytes() == 1234, err)
	rl, err := api.RaiseLevel(ctx, connect.NewRequest(&tidemarkv1.RaiseLevelRequest{Level: 1}))
	must(err == nil && rl.Msg.GetLevel() == 1, err)
	st, err := api.Status(ctx, connect.NewRequest(&tidemarkv1.StatusRequest{}))
	must(err == nil && st.Msg.GetNodeId() == "n1/aa" && st.Msg.GetState() == "leader", err)
	want := []string{"add n4/dd h:7412", "promote n4/dd", "remove n4", "transfer n2", "snapshot", "raise", "status"}
	if !slices.Equal(got, want) {
		t.Errorf("the service saw %q, want %q", got, want)
	}
}
