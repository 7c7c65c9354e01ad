package wire

import (
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// ToSetRequest makes the API's form of s.
func ToSetRequest(s *offset.Set, timeoutMS uint32) *tidemarkv1.SetRequest {
	return &tidemarkv1.SetRequest{
		Key:       ToKey(s.Key),
		Offset:    s.Offset,
		ClusterId: clusterID(s.Cluster),
		Epoch:     s.Epoch,
		Exists:    s.Exists,
		Replaces:  s.Replaces,
		Operator:  s.Operator,
		Claim:     s.Claim,
		TimeoutMs: timeoutMS,
	}
}

// FromSetRequest reads a Set.
func FromSetRequest(m *tidemarkv1.SetRequest) (*offset.Set, error) {
	id, err := parseClusterID(m.GetClusterId())
	if err != nil {
		return nil, err
	}
	k, err := FromKey("key", m.GetKey())
	if err != nil {
		return nil, err
	}
	return &offset.Set{
		Key:      k,
		Offset:   m.Offset,
		Cluster:  id,
		Epoch:    m.Epoch,
		Exists:   m.Exists,
		Replaces: m.Replaces,
		Operator: m.Operator,
		Claim:    m.Claim,
	}, nil
}

// ToSetResponse makes the answer to a Set of k.
func ToSetResponse(k offset.Key, v offset.Verdict, meta offset.Meta) *tidemarkv1.SetResponse {
	return &tidemarkv1.SetResponse{Meta: ToMeta(meta), Applied: v.Code == offset.CodeOK, State: ToKeyState(k, v.State)}
}

// FromSetResponse reads the answer to a Set: CodeOK or CodeFenced, with the
// key as it is after.
func FromSetResponse(m *tidemarkv1.SetResponse) (offset.Verdict, offset.Meta, error) {
	meta, err := FromMeta(m.GetMeta())
	if err != nil {
		return offset.Verdict{}, offset.Meta{}, err
	}
	st, err := FromKeyState("state", m.GetState())
	if err != nil {
		return offset.Verdict{}, offset.Meta{}, err
	}
	v := offset.Verdict{Code: offset.CodeFenced, State: st}
	if m.GetApplied() {
		v.Code = offset.CodeOK
	}
	return v, meta, nil
}
