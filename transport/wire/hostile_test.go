package wire

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	pb "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func refuses[T any](_ T, err error) error { return err }

func third[A, B any](_ A, _ B, err error) error { return err }

func TestHostileMessages(t *testing.T) {
	key := &pb.Key{Group: "g", Topic: "t"}
	act := &pb.ActHeader{Id: strings.Repeat("0a", 16), ClusterId: strings.Repeat("0b", 16)}
	state := &pb.KeyState{Key: key}
	one := func(t *pb.TopicCommits) error {
		return refuses(FromCommitRequest(&pb.CommitRequest{Commits: []*pb.TopicCommits{t}}))
	}
	resp := func(r ...*pb.Refusal) error {
		return third(FromCommitResponse(&pb.CommitResponse{Offsets: []int64{1, 2}, Refused: r}, 2))
	}
	status := func(change func(*pb.StatusResponse)) error {
		m := ToStatusResponse(offset.Status{NodeID: "n/1"})
		change(m)
		return refuses(FromStatusResponse(m))
	}
	member := func(m *pb.Member) error {
		return status(func(s *pb.StatusResponse) { s.Members = []*pb.Member{m} })
	}
	for _, tt := range []struct {
		name  string
		err   error
		field string
	}{
		{"no queues", one(&pb.TopicCommits{}), "commits[0] has no queue_ids"},
		{"fewer offsets", one(&pb.TopicCommits{QueueIds: []int32{1, 2}, Offsets: []int64{1}, Epochs: []uint64{1}}), "2 queue_ids and 1 offsets"},
		{"more offsets", one(&pb.TopicCommits{QueueIds: []int32{1}, Offsets: []int64{1, 2}, Epochs: []uint64{1}}), "1 queue_ids and 2 offsets"},
		{"no epochs", one(&pb.TopicCommits{QueueIds: []int32{1}, Offsets: []int64{1}}), "0 epochs"},
		{"two epochs for three", one(&pb.TopicCommits{QueueIds: []int32{1, 2, 3}, Offsets: []int64{1, 2, 3}, Epochs: []uint64{1, 2}}), "2 epochs"},
		{"missing topic", one(nil), "commits[0]"},
		{"too many topics", refuses(FromCommitRequest(&pb.CommitRequest{Commits: make([]*pb.TopicCommits, offset.MaxCommits+1)})), "10001 commits"},
		{"too many queues", one(&pb.TopicCommits{QueueIds: make([]int32, 10_001), Offsets: make([]int64, 10_001), Epochs: []uint64{1}}), "10001 commits"},
		{"cluster id", refuses(FromCommitRequest(&pb.CommitRequest{ClusterId: "xyz"})), "cluster id"},

		{"answer of other length", third(FromCommitResponse(&pb.CommitResponse{Offsets: []int64{1}}, 2)), "1 offsets for 2"},
		{"negative offset in an answer", third(FromCommitResponse(&pb.CommitResponse{Offsets: []int64{-1}}, 1)), "offsets[0]"},
		{"refusal beyond", resp(&pb.Refusal{At: 2, Code: 7, State: state}), "commit 2 of 2"},
		{"refusals out of order", resp(&pb.Refusal{At: 1, Code: 7, State: state}, &pb.Refusal{At: 0, Code: 7, State: state}), "out of order"},
		{"refusal twice", resp(&pb.Refusal{At: 1, Code: 7, State: state}, &pb.Refusal{At: 1, Code: 7, State: state}), "out of order"},
		{"refusal without a reason", resp(&pb.Refusal{At: 1, State: state}), "code 0"},
		{"refusal code that wraps round", resp(&pb.Refusal{At: 1, Code: 256 + 7, State: state}), "code 263"},
		{"refusal without its state", resp(&pb.Refusal{At: 1, Code: 7}), "refused state is missing"},

		{"set without a key", refuses(FromSetRequest(&pb.SetRequest{})), "key"},
		{"no set at all", refuses(FromSetRequest(nil)), "key"},
		{"set answer without its state", third(FromSetResponse(&pb.SetResponse{})), "state"},
		{"an offset of what has none", third(FromSetResponse(&pb.SetResponse{State: &pb.KeyState{Position: &pb.Position{Offset: 3}}})), "says that it has none"},

		{"read level", refuses(FromFetchRequest(&pb.FetchRequest{Level: 3})), "level 3"},
		{"negative read level", refuses(FromFetchRequest(&pb.FetchRequest{Level: -1})), "level -1"},
		{"too many keys", refuses(FromFetchRequest(&pb.FetchRequest{Keys: make([]*pb.Key, 10_001)})), "10001 keys"},
		{"missing key", refuses(FromFetchRequest(&pb.FetchRequest{Keys: []*pb.Key{nil}})), "keys"},
		{"fewer states than keys", third(FromFetchResponse(&pb.FetchResponse{}, 1)), "0 states for 1"},
		{"age", third(FromFetchResponse(&pb.FetchResponse{Meta: &pb.Meta{AgeMs: math.MaxInt64}}, 0)), "age_ms"},
		{"leader", third(FromFetchResponse(&pb.FetchResponse{Meta: &pb.Meta{Leader: "a\nb"}}, 0)), "leader"},
		{"leader's length", third(FromFetchResponse(&pb.FetchResponse{Meta: &pb.Meta{Leader: strings.Repeat("a", 263)}}, 0)), "leader"},

		{"what to list", refuses(FromListRequest(&pb.ListRequest{What: 3})), "what 3"},
		{"names of a page", refuses(FromListResponse(&pb.ListResponse{Names: []string{"a\x1b[2J"}})), "name"},
		{"rows of a page", refuses(FromListResponse(&pb.ListResponse{States: make([]*pb.KeyState, 10_001)})), "10001 states"},
		{"key of a row", refuses(FromListResponse(&pb.ListResponse{States: []*pb.KeyState{{}}})), "key of state"},

		{"act header", refuses(FromResetRequest(&pb.ResetRequest{})), "act is missing"},
		{"act id", refuses(FromCloneRequest(&pb.CloneRequest{Act: &pb.ActHeader{Id: "12"}})), "act id"},
		{"targets", refuses(FromResetRequest(&pb.ResetRequest{Act: act, Targets: make([]*pb.Target, 10_001)})), "10001 targets"},
		{"missing target", refuses(FromResetRequest(&pb.ResetRequest{Act: act, Targets: []*pb.Target{nil}})), "key of target"},
		{"scope", refuses(FromRemoveRequest(&pb.RemoveRequest{Act: act})), "scope"},
		{"claim of nothing", refuses(FromClaimRequest(&pb.ClaimRequest{Act: act})), "neither a group nor a broker"},
		{"expired groups", refuses(FromExpireRequest(&pb.ExpireRequest{Act: act, Groups: make([]*pb.IdleGroup, 10_001)})), "10001 groups"},
		{"import step", refuses(FromImportRequest(&pb.ImportRequest{Act: act, Step: 4})), "step 4"},
		{"import mode", refuses(FromImportRequest(&pb.ImportRequest{Act: act, Mode: -1})), "mode -1"},
		{"import hash", refuses(FromImportRequest(&pb.ImportRequest{Act: act, Hash: "ab"})), "hash"},
		{"import hash's digits", refuses(FromImportRequest(&pb.ImportRequest{Act: act, Hash: strings.Repeat("z", 64)})), "hash"},
		{"names in an answer", third(FromActResponse(&pb.ActResponse{Names: make([]*pb.Key, 101)})), "101 names"},
		{"no answer to an act", third(FromActResponse(nil)), "missing"},

		{"status level", status(func(s *pb.StatusResponse) { s.Level = 256 }), "level is 256"},
		{"status digest", status(func(s *pb.StatusResponse) { s.Digest = "zz" }), "digest"},
		{"status id", status(func(s *pb.StatusResponse) { s.NodeId = "n 1" }), "node_id"},
		{"status members", status(func(s *pb.StatusResponse) { s.Members = make([]*pb.Member, 33) }), "33 members"},
		{"member's index", member(&pb.Member{MatchIndex: -2}), "match_index"},
		{"member's address", member(&pb.Member{PeerAddress: "a b"}), "peer_address"},
		{"member's age", member(&pb.Member{ContactAgeMs: -2}), "contact_age_ms"},
	} {
		if !errors.Is(tt.err, offset.ErrInvalid) || !strings.Contains(tt.err.Error(), tt.field) {
			t.Errorf("%s: %v, want one that names %q", tt.name, tt.err, tt.field)
		}
	}
}

func TestUnknownActCodeIsUnknown(t *testing.T) {
	for _, code := range []uint32{200, 256, math.MaxUint32} {
		if err := third(FromActResponse(&pb.ActResponse{Code: code})); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("code %d: %v", code, err)
		}
	}
}

func TestNothingAtAll(t *testing.T) {
	if c, err := FromCommitRequest(nil); err != nil || c.Validate() == nil {
		t.Errorf("%+v %v: left to Validate", c, err)
	}
	if l, err := FromListRequest(nil); err != nil || !reflect.DeepEqual(l, &offset.List{}) {
		t.Errorf("%+v %v", l, err)
	}
	if m, err := FromMeta(nil); err != nil || m != (offset.Meta{}) {
		t.Errorf("%+v %v", m, err)
	}
}

// fuzzed are the readers of everything that is sent, each on a message of its own.
var fuzzed = []struct {
	new  func() proto.Message
	read func(proto.Message) error
}{
	{func() proto.Message { return new(pb.CommitRequest) }, func(m proto.Message) error {
		c, err := FromCommitRequest(m.(*pb.CommitRequest))
		if err == nil {
			err = c.Validate()
		}
		return err
	}},
	{func() proto.Message { return new(pb.CommitResponse) }, func(m proto.Message) error {
		r := m.(*pb.CommitResponse)
		return third(FromCommitResponse(r, len(r.Offsets)))
	}},
	{func() proto.Message { return new(pb.SetRequest) }, func(m proto.Message) error {
		s, err := FromSetRequest(m.(*pb.SetRequest))
		if err == nil {
			err = s.Validate()
		}
		return err
	}},
	{func() proto.Message { return new(pb.SetResponse) }, func(m proto.Message) error { return third(FromSetResponse(m.(*pb.SetResponse))) }},
	{func() proto.Message { return new(pb.FetchRequest) }, func(m proto.Message) error {
		f, err := FromFetchRequest(m.(*pb.FetchRequest))
		if err == nil {
			err = f.Validate()
		}
		return err
	}},
	{func() proto.Message { return new(pb.FetchResponse) }, func(m proto.Message) error {
		r := m.(*pb.FetchResponse)
		return third(FromFetchResponse(r, len(r.States)))
	}},
	{func() proto.Message { return new(pb.ListRequest) }, func(m proto.Message) error { return refuses(FromListRequest(m.(*pb.ListRequest))) }},
	{func() proto.Message { return new(pb.ListResponse) }, func(m proto.Message) error { return refuses(FromListResponse(m.(*pb.ListResponse))) }},
	{func() proto.Message { return new(pb.ExportRequest) }, func(m proto.Message) error { return refuses(FromExportRequest(m.(*pb.ExportRequest))) }},
	{func() proto.Message { return new(pb.ExportResponse) }, func(m proto.Message) error {
		_, _, _, err := FromExportResponse(m.(*pb.ExportResponse))
		return err
	}},
	{func() proto.Message { return new(pb.ResetRequest) }, func(m proto.Message) error { return refusesAct(FromResetRequest(m.(*pb.ResetRequest))) }},
	{func() proto.Message { return new(pb.RemoveRequest) }, func(m proto.Message) error { return refusesAct(FromRemoveRequest(m.(*pb.RemoveRequest))) }},
	{func() proto.Message { return new(pb.CloneRequest) }, func(m proto.Message) error { return refusesAct(FromCloneRequest(m.(*pb.CloneRequest))) }},
	{func() proto.Message { return new(pb.ExpireRequest) }, func(m proto.Message) error { return refusesAct(FromExpireRequest(m.(*pb.ExpireRequest))) }},
	{func() proto.Message { return new(pb.ClaimRequest) }, func(m proto.Message) error { return refusesAct(FromClaimRequest(m.(*pb.ClaimRequest))) }},
	{func() proto.Message { return new(pb.ImportRequest) }, func(m proto.Message) error { return refusesAct(FromImportRequest(m.(*pb.ImportRequest))) }},
	{func() proto.Message { return new(pb.ActResponse) }, func(m proto.Message) error { return third(FromActResponse(m.(*pb.ActResponse))) }},
	{func() proto.Message { return new(pb.StatusResponse) }, func(m proto.Message) error { return refuses(FromStatusResponse(m.(*pb.StatusResponse))) }},
	{func() proto.Message { return new(pb.Error) }, func(m proto.Message) error { return FromError(m.(*pb.Error)) }},
	{func() proto.Message { return new(pb.ClaimsRequest) }, func(m proto.Message) error { return refuses(FromClaimsRequest(m.(*pb.ClaimsRequest))) }},
	{func() proto.Message { return new(pb.ClaimsResponse) }, func(m proto.Message) error { return third(FromClaimsResponse(m.(*pb.ClaimsResponse))) }},
}

func refusesAct(a *offset.Act, err error) error {
	if err == nil {
		err = a.Validate()
	}
	return err
}

// FuzzMessages: whatever comes, the readers neither panic nor let an error
// through that holds a control character or belongs to no code.
func FuzzMessages(f *testing.F) {
	key := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	for i, m := range []proto.Message{
		0: ToCommitRequest(commitsOf(2, 2), 5), 3: ToSetResponse(key, offset.Verdict{}, offset.Meta{}),
		17: ToStatusResponse(offset.Status{NodeID: "n/1", Members: make([]offset.MemberStatus, 1)}), 18: &pb.Error{Code: 3, Text: "x"},
	} {
		if m != nil {
			b, _ := proto.Marshal(m)
			f.Add(uint8(i), b)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		r := fuzzed[int(which)%len(fuzzed)]
		m := r.new()
		if proto.Unmarshal(b, m) != nil {
			return
		}
		err := r.read(m)
		if err == nil {
			return
		}
		if strings.ContainsAny(err.Error(), "\n\r\x1b\x00") {
			t.Fatalf("the error forges a line: %q", err)
		}
		if e := (*offset.Error)(nil); !errors.As(err, &e) {
			t.Fatalf("the error belongs to no code: %v", err)
		}
	})
}
