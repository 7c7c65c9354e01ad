package wire

import (
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// fromReadAt keeps an index that the level does not look at, so that the Service
// can refuse it.
func fromReadAt(level tidemarkv1.ReadLevel, index uint64) (offset.ReadAt, error) {
	switch level {
	case tidemarkv1.ReadLevel_READ_LEVEL_LINEARIZABLE:
		return offset.ReadAt{Level: offset.Linearizable, Index: index}, nil
	case tidemarkv1.ReadLevel_READ_LEVEL_AT_LEAST:
		return offset.ReadAt{Level: offset.AtLeast, Index: index}, nil
	case tidemarkv1.ReadLevel_READ_LEVEL_LOCAL:
		return offset.ReadAt{Level: offset.Local, Index: index}, nil
	}
	return offset.ReadAt{}, offset.Errorf(offset.ErrInvalid, "level %d is not known", level)
}

func toLevel(l offset.Level) tidemarkv1.ReadLevel { return tidemarkv1.ReadLevel(l) }

// fetchSlab is what a request for one key needs, allocated together; a larger
// one brings its own slices.
type fetchSlab struct {
	call    tidemarkv1.Call
	kind    tidemarkv1.Call_Fetch
	request tidemarkv1.FetchRequest
	keys    [1]tidemarkv1.Key
	list    [1]*tidemarkv1.Key
}

// ToFetchCall makes f a call of a stream. timeoutMS is ToTimeout's.
func ToFetchCall(f *offset.Fetch, timeoutMS uint32) *tidemarkv1.Call {
	s := new(fetchSlab)
	s.kind.Fetch = s.fill(f, timeoutMS)
	s.call.Call = &s.kind
	return &s.call
}

// ToFetchRequest makes the API's form of f.
func ToFetchRequest(f *offset.Fetch, timeoutMS uint32) *tidemarkv1.FetchRequest {
	return new(fetchSlab).fill(f, timeoutMS)
}

func (s *fetchSlab) fill(f *offset.Fetch, timeoutMS uint32) *tidemarkv1.FetchRequest {
	m := &s.request
	m.Level, m.AtIndex, m.TimeoutMs = toLevel(f.At.Level), f.At.Index, timeoutMS
	m.Keys = fillKeys(s.list[:0], s.keys[:0], f.Keys)
	return m
}

// FromFetchRequest reads a Fetch.
func FromFetchRequest(m *tidemarkv1.FetchRequest) (*offset.Fetch, error) {
	at, err := fromReadAt(m.GetLevel(), m.GetAtIndex())
	if err != nil {
		return nil, err
	}
	keys, err := fromKeys("keys", m.GetKeys(), offset.MaxCommits)
	if err != nil {
		return nil, err
	}
	return &offset.Fetch{At: at, Keys: keys}, nil
}

// ToFetchResponse makes the answer to a read of keys; states has one element for each, meta is ToMeta's.
func ToFetchResponse(keys []offset.Key, states []offset.KeyState, meta *tidemarkv1.Meta) *tidemarkv1.FetchResponse {
	slab := make([]stateSlab, len(states))
	m := &tidemarkv1.FetchResponse{Meta: meta, States: make([]*tidemarkv1.KeyState, len(states))}
	for i := range states {
		m.States[i] = slab[i].fill(&keys[i], &states[i])
	}
	return m
}

// FromFetchResponse reads the answer to a request for count keys, in its order.
func FromFetchResponse(m *tidemarkv1.FetchResponse, count int) ([]offset.KeyState, offset.Meta, error) {
	meta, err := FromMeta(m.GetMeta())
	if err != nil {
		return nil, offset.Meta{}, err
	}
	if n := len(m.GetStates()); n != count {
		return nil, offset.Meta{}, offset.Errorf(offset.ErrInvalid, "the answer has %d states for %d keys", n, count)
	}
	states := make([]offset.KeyState, count)
	for i, s := range m.GetStates() {
		if states[i], err = FromKeyState("state", s); err != nil {
			return nil, offset.Meta{}, err
		}
	}
	return states, meta, nil
}

// ToListRequest makes the API's form of l.
func ToListRequest(l *offset.List, timeoutMS uint32) *tidemarkv1.ListRequest {
	m := &tidemarkv1.ListRequest{
		What:      tidemarkv1.ListKind(l.What),
		Group:     l.Group,
		Topic:     l.Topic,
		Broker:    optional(l.HasBroker, l.Broker),
		Prefix:    l.Prefix,
		NewerThan: l.NewerThan,
		Pending:   l.Pending,
		Limit:     uint32(min(max(l.Limit, 0), offset.MaxPage)),
		Level:     toLevel(l.At.Level),
		AtIndex:   l.At.Index,
		TimeoutMs: timeoutMS,
	}
	if l.After != nil {
		m.After = ToKey(*l.After)
	}
	return m
}

// FromListRequest reads a List.
func FromListRequest(m *tidemarkv1.ListRequest) (*offset.List, error) {
	at, err := fromReadAt(m.GetLevel(), m.GetAtIndex())
	if err != nil {
		return nil, err
	}
	if w := m.GetWhat(); w < 0 || w > tidemarkv1.ListKind_LIST_KIND_KEYS {
		return nil, offset.Errorf(offset.ErrInvalid, "what %d is not known", w)
	}
	l := &offset.List{
		At:        at,
		What:      offset.ListKind(m.GetWhat()),
		Group:     m.GetGroup(),
		Topic:     m.GetTopic(),
		Broker:    m.GetBroker(),
		HasBroker: m != nil && m.Broker != nil,
		Prefix:    m.GetPrefix(),
		NewerThan: m.GetNewerThan(),
		Pending:   m.GetPending(),
		Limit:     int(min(m.GetLimit(), offset.MaxPage)),
	}
	if m.GetAfter() != nil {
		k, err := FromKey("after", m.GetAfter())
		if err != nil {
			return nil, err
		}
		l.After = &k
	}
	return l, nil
}

// ToListResponse makes the API's form of a page.
func ToListResponse(p offset.Page) *tidemarkv1.ListResponse {
	return &tidemarkv1.ListResponse{Meta: ToMeta(p.Meta), Names: p.Names, States: toKeyedStates(p.Keys), More: p.More}
}

// FromListResponse reads a page.
func FromListResponse(m *tidemarkv1.ListResponse) (offset.Page, error) {
	meta, err := FromMeta(m.GetMeta())
	if err != nil {
		return offset.Page{}, err
	}
	if n := len(m.GetNames()); n > offset.MaxPage {
		return offset.Page{}, tooMany("names", n, offset.MaxPage)
	}
	for _, s := range m.GetNames() {
		if err := offset.ValidateName("name", s, false); err != nil {
			return offset.Page{}, err
		}
	}
	keys, err := fromKeyedStates(m.GetStates())
	if err != nil {
		return offset.Page{}, err
	}
	return offset.Page{Meta: meta, Names: m.GetNames(), Keys: keys, More: m.GetMore()}, nil
}

// ToExportRequest makes the API's form of what l selects.
func ToExportRequest(l *offset.List, timeoutMS uint32) *tidemarkv1.ExportRequest {
	return &tidemarkv1.ExportRequest{
		Group:     l.Group,
		Topic:     l.Topic,
		Broker:    optional(l.HasBroker, l.Broker),
		Level:     toLevel(l.At.Level),
		AtIndex:   l.At.Index,
		TimeoutMs: timeoutMS,
	}
}

// FromExportRequest reads what is to be exported, as a List of keys.
func FromExportRequest(m *tidemarkv1.ExportRequest) (*offset.List, error) {
	at, err := fromReadAt(m.GetLevel(), m.GetAtIndex())
	if err != nil {
		return nil, err
	}
	return &offset.List{
		At:        at,
		What:      offset.ListKeys,
		Group:     m.GetGroup(),
		Topic:     m.GetTopic(),
		Broker:    m.GetBroker(),
		HasBroker: m != nil && m.Broker != nil,
	}, nil
}

// ToExportResponse makes one message of an export; p.More is not carried.
func ToExportResponse(p offset.Page) *tidemarkv1.ExportResponse {
	return &tidemarkv1.ExportResponse{Meta: ToMeta(p.Meta), States: toKeyedStates(p.Keys)}
}

// FromExportResponse reads one message of an export. last reports that it is the
// last one, and total how many keys were sent in all; a stream that ends
// without it broke off.
func FromExportResponse(m *tidemarkv1.ExportResponse) (p offset.Page, total uint64, last bool, err error) {
	if p.Meta, err = FromMeta(m.GetMeta()); err != nil {
		return offset.Page{}, 0, false, err
	}
	if p.Keys, err = fromKeyedStates(m.GetStates()); err != nil {
		return offset.Page{}, 0, false, err
	}
	last = m != nil && m.Total != nil
	p.More = !last
	return p, m.GetTotal(), last, nil
}

func toKeyedStates(rows []offset.KeyedState) []*tidemarkv1.KeyState {
	if len(rows) == 0 {
		return nil
	}
	slab := make([]stateSlab, len(rows))
	out := make([]*tidemarkv1.KeyState, len(rows))
	for i := range rows {
		out[i] = slab[i].fill(&rows[i].Key, &rows[i].KeyState)
	}
	return out
}

func fromKeyedStates(list []*tidemarkv1.KeyState) ([]offset.KeyedState, error) {
	if len(list) > offset.MaxPage {
		return nil, tooMany("states", len(list), offset.MaxPage)
	}
	if len(list) == 0 {
		return nil, nil
	}
	rows := make([]offset.KeyedState, len(list))
	for i, m := range list {
		k, err := FromKey("key of state", m.GetKey())
		if err != nil {
			return nil, err
		}
		if err := k.Validate(); err != nil {
			return nil, err
		}
		st, err := FromKeyState("state", m)
		if err != nil {
			return nil, err
		}
		rows[i] = offset.KeyedState{Key: k, KeyState: st}
	}
	return rows, nil
}

// optional makes a field that distinguishes empty from absent.
func optional[T any](has bool, v T) *T {
	if !has {
		return nil
	}
	return &v
}
