package wire

import (
	"encoding/hex"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func toActHeader(a *offset.Act, timeoutMS uint32) *tidemarkv1.ActHeader {
	return &tidemarkv1.ActHeader{
		Id:        a.ID.String(),
		Base:      a.Base,
		ClusterId: clusterID(a.Cluster),
		Claim:     a.Claim,
		TimeoutMs: timeoutMS,
	}
}

func fromActHeader(m *tidemarkv1.ActHeader) (*offset.Act, error) {
	if m == nil {
		return nil, offset.Errorf(offset.ErrInvalid, "act is missing; it carries a random id, and the index and the cluster id that were read before")
	}
	id, err := offset.ParseActID(m.Id)
	if err != nil {
		return nil, err
	}
	cluster, err := parseClusterID(m.ClusterId)
	if err != nil {
		return nil, err
	}
	return &offset.Act{ID: id, Base: m.Base, Cluster: cluster, Claim: m.Claim}, nil
}

func toTargets(list []offset.Target) []*tidemarkv1.Target {
	if len(list) == 0 {
		return nil
	}
	slab := make([]struct {
		target tidemarkv1.Target
		key    tidemarkv1.Key
	}, len(list))
	out := make([]*tidemarkv1.Target, len(list))
	for i := range list {
		s := &slab[i]
		fillKey(&s.key, &list[i].Key)
		s.target.Key, s.target.Offset = &s.key, list[i].Offset
		out[i] = &s.target
	}
	return out
}

func fromTargets(list []*tidemarkv1.Target) ([]offset.Target, error) {
	if len(list) > offset.MaxCommits {
		return nil, tooMany("targets", len(list), offset.MaxCommits)
	}
	if len(list) == 0 {
		return nil, nil
	}
	out := make([]offset.Target, len(list))
	for i, m := range list {
		k, err := FromKey("key of target", m.GetKey())
		if err != nil {
			return nil, err
		}
		out[i] = offset.Target{Key: k, Offset: m.GetOffset()}
	}
	return out, nil
}

// ToResetRequest makes the API's form of an act whose Reset is set.
func ToResetRequest(a *offset.Act, timeoutMS uint32) *tidemarkv1.ResetRequest {
	return &tidemarkv1.ResetRequest{Act: toActHeader(a, timeoutMS), Targets: toTargets(a.Reset.Targets)}
}

// FromResetRequest reads an act that resets.
func FromResetRequest(m *tidemarkv1.ResetRequest) (*offset.Act, error) {
	a, err := fromActHeader(m.GetAct())
	if err != nil {
		return nil, err
	}
	targets, err := fromTargets(m.GetTargets())
	if err != nil {
		return nil, err
	}
	a.Reset = &offset.Reset{Targets: targets}
	return a, nil
}

// ToRemoveRequest makes the API's form of an act whose Remove is set.
func ToRemoveRequest(a *offset.Act, timeoutMS uint32) *tidemarkv1.RemoveRequest {
	s := a.Remove.Scope
	return &tidemarkv1.RemoveRequest{
		Act: toActHeader(a, timeoutMS),
		Scope: &tidemarkv1.Scope{
			Group:   s.Group,
			Topic:   s.Topic,
			Broker:  optional(s.HasBroker, s.Broker),
			QueueId: optional(s.HasQueue, s.QueueID),
		},
	}
}

// FromRemoveRequest reads an act that removes.
func FromRemoveRequest(m *tidemarkv1.RemoveRequest) (*offset.Act, error) {
	a, err := fromActHeader(m.GetAct())
	if err != nil {
		return nil, err
	}
	s := m.GetScope()
	if s == nil {
		return nil, offset.Errorf(offset.ErrInvalid, "scope is missing")
	}
	a.Remove = &offset.Remove{Scope: offset.Scope{
		Group:     s.Group,
		Topic:     s.Topic,
		HasBroker: s.Broker != nil,
		Broker:    s.GetBroker(),
		HasQueue:  s.QueueId != nil,
		QueueID:   s.GetQueueId(),
	}}
	return a, nil
}

// ToCloneRequest makes the API's form of an act whose Clone is set.
func ToCloneRequest(a *offset.Act, timeoutMS uint32) *tidemarkv1.CloneRequest {
	c := a.Clone
	return &tidemarkv1.CloneRequest{
		Act:    toActHeader(a, timeoutMS),
		From:   c.From,
		To:     c.To,
		Topic:  c.Topic,
		Broker: optional(c.HasBroker, c.Broker),
	}
}

// FromCloneRequest reads an act that clones.
func FromCloneRequest(m *tidemarkv1.CloneRequest) (*offset.Act, error) {
	a, err := fromActHeader(m.GetAct())
	if err != nil {
		return nil, err
	}
	a.Clone = &offset.Clone{
		From:      m.GetFrom(),
		To:        m.GetTo(),
		Topic:     m.GetTopic(),
		HasBroker: m.Broker != nil,
		Broker:    m.GetBroker(),
	}
	return a, nil
}

// ToExpireRequest makes the API's form of an act whose Expire is set.
func ToExpireRequest(a *offset.Act, timeoutMS uint32) *tidemarkv1.ExpireRequest {
	m := &tidemarkv1.ExpireRequest{Act: toActHeader(a, timeoutMS)}
	for _, g := range a.Expire.Groups {
		m.Groups = append(m.Groups, &tidemarkv1.IdleGroup{Group: g.Group, Seen: g.Seen})
	}
	return m
}

// FromExpireRequest reads an act that expires groups.
func FromExpireRequest(m *tidemarkv1.ExpireRequest) (*offset.Act, error) {
	a, err := fromActHeader(m.GetAct())
	if err != nil {
		return nil, err
	}
	if n := len(m.GetGroups()); n > offset.MaxCommits {
		return nil, tooMany("groups", n, offset.MaxCommits)
	}
	e := &offset.Expire{Groups: make([]offset.Idle, len(m.GetGroups()))}
	for i, g := range m.GetGroups() {
		e.Groups[i] = offset.Idle{Group: g.GetGroup(), Seen: g.GetSeen()}
	}
	a.Expire = e
	return a, nil
}

// ToClaimRequest makes the API's form of an act whose Take is set.
func ToClaimRequest(a *offset.Act, timeoutMS uint32) *tidemarkv1.ClaimRequest {
	m := &tidemarkv1.ClaimRequest{Act: toActHeader(a, timeoutMS), Holder: a.Take.Holder}
	if a.Take.ByBroker {
		m.Scope = &tidemarkv1.ClaimRequest_Broker{Broker: a.Take.Name}
	} else {
		m.Scope = &tidemarkv1.ClaimRequest_Group{Group: a.Take.Name}
	}
	return m
}

// FromClaimRequest reads an act that claims.
func FromClaimRequest(m *tidemarkv1.ClaimRequest) (*offset.Act, error) {
	a, err := fromActHeader(m.GetAct())
	if err != nil {
		return nil, err
	}
	a.Take = &offset.Take{Holder: m.GetHolder()}
	switch s := m.GetScope().(type) {
	case *tidemarkv1.ClaimRequest_Group:
		a.Take.Name = s.Group
	case *tidemarkv1.ClaimRequest_Broker:
		a.Take.ByBroker, a.Take.Name = true, s.Broker
	default:
		return nil, offset.Errorf(offset.ErrInvalid, "the claim names neither a group nor a broker")
	}
	return a, nil
}

// ToImportRequest makes the API's form of an act whose Import is set.
func ToImportRequest(a *offset.Act, timeoutMS uint32) *tidemarkv1.ImportRequest {
	i := a.Import
	return &tidemarkv1.ImportRequest{
		Act:     toActHeader(a, timeoutMS),
		Step:    tidemarkv1.ImportStep(i.Step),
		Mode:    tidemarkv1.ImportMode(i.Mode),
		Group:   i.Group,
		Hash:    toHash(i.Hash),
		Chunks:  i.Chunks,
		Offsets: i.Offsets,
		Chunk:   i.Chunk,
		Targets: toTargets(i.Targets),
	}
}

// FromImportRequest reads one step of an import.
func FromImportRequest(m *tidemarkv1.ImportRequest) (*offset.Act, error) {
	a, err := fromActHeader(m.GetAct())
	if err != nil {
		return nil, err
	}
	if s := m.GetStep(); s < 0 || s > tidemarkv1.ImportStep_IMPORT_STEP_ABORT {
		return nil, offset.Errorf(offset.ErrInvalid, "step %d is not known", s)
	}
	mode, err := fromMode(m.GetMode())
	if err != nil {
		return nil, err
	}
	hash, err := fromHash(m.GetHash())
	if err != nil {
		return nil, err
	}
	targets, err := fromTargets(m.GetTargets())
	if err != nil {
		return nil, err
	}
	a.Import = &offset.Import{
		Step:    offset.ImportStep(m.GetStep()),
		Mode:    mode,
		Group:   m.GetGroup(),
		Hash:    hash,
		Chunks:  m.GetChunks(),
		Offsets: m.GetOffsets(),
		Chunk:   m.GetChunk(),
		Targets: targets,
	}
	return a, nil
}

func fromMode(m tidemarkv1.ImportMode) (offset.ImportMode, error) {
	if m < 0 || m > tidemarkv1.ImportMode_IMPORT_MODE_REPLACE {
		return 0, offset.Errorf(offset.ErrInvalid, "mode %d is not known", m)
	}
	return offset.ImportMode(m), nil
}

// toHash writes a hash; one of zeros, which steps but the first carry, is empty.
func toHash(h [32]byte) string {
	if h == [32]byte{} {
		return ""
	}
	return hex.EncodeToString(h[:])
}

func fromHash(s string) (h [32]byte, err error) {
	if s == "" {
		return h, nil
	}
	if len(s) != 2*len(h) {
		return h, offset.Errorf(offset.ErrInvalid, "hash has %d characters; 64 hexadecimal digits are needed", len(s))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return [32]byte{}, offset.Errorf(offset.ErrInvalid, "hash %q is not hexadecimal", s)
	}
	return h, nil
}

// ToActResponse makes the answer to an act.
func ToActResponse(r offset.ActResult, meta offset.Meta) *tidemarkv1.ActResponse {
	return &tidemarkv1.ActResponse{
		Meta:    ToMeta(meta),
		Code:    uint32(r.Code),
		Index:   r.Index,
		Done:    r.Done,
		Next:    r.Next,
		Changed: r.Changed,
		Kept:    r.Kept,
		Names:   toKeys(r.Names),
	}
}

// FromActResponse reads the answer to an act. A code that this build does not
// know is an error that wraps offset.ErrOutcomeUnknown.
func FromActResponse(m *tidemarkv1.ActResponse) (offset.ActResult, offset.Meta, error) {
	if m == nil {
		return offset.ActResult{}, offset.Meta{}, offset.Errorf(offset.ErrInvalid, "the answer to the act is missing")
	}
	meta, err := FromMeta(m.Meta)
	if err != nil {
		return offset.ActResult{}, offset.Meta{}, err
	}
	code := offset.Code(m.Code)
	if uint32(code) != m.Code || offset.CodeOf(code.Err()) != code {
		return offset.ActResult{}, offset.Meta{}, offset.Errorf(offset.ErrOutcomeUnknown, "the answer has the code %d, which this version does not know", m.Code)
	}
	names, err := fromKeys("names", m.Names, offset.MaxNames)
	if err != nil {
		return offset.ActResult{}, offset.Meta{}, err
	}
	r := offset.ActResult{
		Code: code, Index: m.Index, Done: m.Done, Next: m.Next,
		Changed: m.Changed, Kept: m.Kept, Names: names,
	}
	return r, meta, nil
}
