package wire

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// MaxAddress is the longest address that an answer may carry, in bytes: a DNS
// name of 253, a colon and a port, with room for the brackets of IPv6.
const MaxAddress = 262

// ToKey makes the API's form of k.
func ToKey(k offset.Key) *tidemarkv1.Key {
	return &tidemarkv1.Key{Group: k.Group, Topic: k.Topic, Broker: k.Broker, QueueId: k.QueueID}
}

// FromKey reads a key; a missing one is offset.ErrInvalid naming field. It
// does not validate the names.
func FromKey(field string, m *tidemarkv1.Key) (offset.Key, error) {
	if m == nil {
		return offset.Key{}, offset.Errorf(offset.ErrInvalid, "%s is missing", field)
	}
	return offset.Key{
		Group:        m.Group,
		MessageQueue: offset.MessageQueue{Topic: m.Topic, Broker: m.Broker, QueueID: m.QueueId},
	}, nil
}

// toKeys makes a list of keys with one slab for all.
func toKeys(keys []offset.Key) []*tidemarkv1.Key { return fillKeys(nil, nil, keys) }

// fillKeys is toKeys, in the room that list and slab have if it is enough.
func fillKeys(list []*tidemarkv1.Key, slab []tidemarkv1.Key, keys []offset.Key) []*tidemarkv1.Key {
	list, slab = slices.Grow(list, len(keys)), slices.Grow(slab, len(keys))[:len(keys)]
	for i := range keys {
		fillKey(&slab[i], &keys[i])
		list = append(list, &slab[i])
	}
	return list
}

func fillKey(m *tidemarkv1.Key, k *offset.Key) {
	m.Group, m.Topic, m.Broker, m.QueueId = k.Group, k.Topic, k.Broker, k.QueueID
}

// fromKeys reads at most most keys.
func fromKeys(field string, list []*tidemarkv1.Key, most int) ([]offset.Key, error) {
	if len(list) > most {
		return nil, tooMany(field, len(list), most)
	}
	if len(list) == 0 {
		return nil, nil
	}
	keys := make([]offset.Key, len(list))
	for i, m := range list {
		k, err := FromKey(field, m)
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

// stateSlab is what one row of an answer needs, allocated together.
type stateSlab struct {
	state tidemarkv1.KeyState
	key   tidemarkv1.Key
	pos   tidemarkv1.Position
}

func (s *stateSlab) fill(k *offset.Key, st *offset.KeyState) *tidemarkv1.KeyState {
	if k != nil {
		fillKey(&s.key, k)
		s.state.Key = &s.key
	}
	s.pos.Offset, s.pos.Index, s.pos.Epoch = st.Position.Offset, st.Position.Index, st.Position.Epoch
	s.pos.Time, s.pos.Pending = st.Position.Time, st.Position.Pending
	s.state.Exists, s.state.Position = st.Exists, &s.pos
	s.state.Epoch, s.state.Claim = st.Epoch, st.Claim
	return &s.state
}

// ToKeyState makes the API's form of a key and its state.
func ToKeyState(k offset.Key, st offset.KeyState) *tidemarkv1.KeyState {
	return new(stateSlab).fill(&k, &st)
}

// FromKeyState reads the state alone; the key in it is not looked at. A
// missing message, and an offset that is negative or belongs to a key that
// does not exist, is offset.ErrInvalid naming field.
func FromKeyState(field string, m *tidemarkv1.KeyState) (offset.KeyState, error) {
	if m == nil {
		return offset.KeyState{}, offset.Errorf(offset.ErrInvalid, "%s is missing", field)
	}
	st := offset.KeyState{Exists: m.Exists, Epoch: m.Epoch, Claim: m.Claim}
	if p := m.Position; p != nil {
		st.Position = offset.Position{Offset: p.Offset, Index: p.Index, Epoch: p.Epoch, Time: p.Time, Pending: p.Pending}
	}
	switch {
	case st.Position.Offset < 0:
		return offset.KeyState{}, offset.Errorf(offset.ErrInvalid, "%s has the negative offset %d", field, st.Position.Offset)
	case !st.Exists && st.Position.Offset != 0:
		return offset.KeyState{}, offset.Errorf(offset.ErrInvalid, "%s has an offset but says that it has none", field)
	}
	return st, nil
}

// ToMeta makes the API's form of m.
func ToMeta(m offset.Meta) *tidemarkv1.Meta {
	return &tidemarkv1.Meta{
		ClusterId: clusterID(m.Cluster),
		Index:     m.Index,
		LastAct:   m.LastAct,
		Leader:    m.Leader,
		AgeMs:     toMillis(m.Age),
	}
}

// Metas makes the API's form of one Meta after another, and of some in a row
// that are the same, as those of one log entry are, only once. The zero value is
// ready; it belongs to one goroutine.
type Metas struct {
	last offset.Meta
	made *tidemarkv1.Meta
}

// To is ToMeta; nobody may change what it returns.
func (c *Metas) To(m offset.Meta) *tidemarkv1.Meta {
	if c.made == nil || c.last != m {
		c.last, c.made = m, ToMeta(m)
	}
	return c.made
}

// FromMeta reads a Meta; a missing one is the zero value.
func FromMeta(m *tidemarkv1.Meta) (offset.Meta, error) {
	if m == nil {
		return offset.Meta{}, nil
	}
	id, err := parseClusterID(m.ClusterId)
	if err != nil {
		return offset.Meta{}, err
	}
	age, err := fromMillis("age_ms", m.AgeMs)
	if err != nil {
		return offset.Meta{}, err
	}
	if err := checkAddress("leader", m.Leader); err != nil {
		return offset.Meta{}, err
	}
	return offset.Meta{Cluster: id, Index: m.Index, LastAct: m.LastAct, Leader: m.Leader, Age: age}, nil
}

// known is the cluster id that was written or read last: a process talks of
// one cluster, nearly always.
var known atomic.Pointer[knownID]

type knownID struct {
	id   offset.ClusterID
	text string
}

func know(id offset.ClusterID) *knownID {
	k := &knownID{id, id.String()}
	known.Store(k)
	return k
}

// clusterID writes an id; the zero id is the empty string.
func clusterID(id offset.ClusterID) string {
	if id.IsZero() {
		return ""
	}
	if k := known.Load(); k != nil && k.id == id {
		return k.text
	}
	return know(id).text
}

// parseClusterID is offset.ParseClusterID without its price for the known one.
func parseClusterID(s string) (offset.ClusterID, error) {
	if k := known.Load(); k != nil && k.text == s {
		return k.id, nil
	}
	id, err := offset.ParseClusterID(s)
	if err == nil && !id.IsZero() {
		know(id)
	}
	return id, err
}

// toMillis rounds up, so that an age that is not 0 does not become 0; what is
// not known is -1.
func toMillis(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// fromMillis reads an age; -1 is "not known".
func fromMillis(field string, ms int64) (time.Duration, error) {
	if ms == -1 {
		return -1, nil
	}
	if ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return 0, offset.Errorf(offset.ErrInvalid, "%s is %d", field, ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// checkAddress bounds an address that is shown and dialled, empty allowed.
func checkAddress(field, s string) error {
	if len(s) > MaxAddress {
		return offset.Errorf(offset.ErrInvalid, "%s has %d bytes; at most %d are allowed", field, len(s), MaxAddress)
	}
	if strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > unicode.MaxLatin1 || unicode.IsControl(r) }) >= 0 {
		return offset.Errorf(offset.ErrInvalid, "%s %q is not an address", field, s)
	}
	return nil
}

func tooMany(field string, n, most int) error {
	return offset.Errorf(offset.ErrInvalid, "%d %s in one message; at most %d are allowed", n, field, most)
}
