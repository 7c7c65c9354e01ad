package fsm

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// detail is a line of name=value in the making.
type detail struct{ strings.Builder }

func (d *detail) field(name, value string) {
	if d.Len() > 0 {
		d.WriteByte(' ')
	}
	d.WriteString(name)
	d.WriteByte('=')
	d.WriteString(value)
}

// quoted adds a name that came from outside.
func (d *detail) quoted(name, value string) { d.field(name, strconv.Quote(value)) }

func (d *detail) number(name string, v uint64) { d.field(name, strconv.FormatUint(v, 10)) }

// given adds a name unless it is empty.
func (d *detail) given(name, value string) {
	if value != "" {
		d.quoted(name, value)
	}
}

func (d *detail) broker(has bool, name string) {
	if has {
		d.quoted("broker", name)
	}
}

func (d *detail) flag(name string, set bool) {
	if set {
		d.field(name, "true")
	}
}

func memberDetail(m *offset.Member) string {
	var d detail
	d.quoted("member", m.ID)
	d.quoted("api", m.API)
	d.number("max-level", uint64(m.MaxLevel))
	return d.String()
}

func forgetDetail(id string) string {
	var d detail
	d.quoted("member", id)
	return d.String()
}

func levelDetail(before, after uint8) string {
	var d detail
	d.number("before", uint64(before))
	d.number("after", uint64(after))
	return d.String()
}

func setDetail(s *offset.Set) string {
	var d detail
	d.quoted("group", s.Key.Group)
	d.quoted("topic", s.Key.Topic)
	d.quoted("broker", s.Key.Broker)
	d.number("queue", uint64(s.Key.QueueID))
	d.number("offset", uint64(s.Offset))
	d.number("epoch", s.Epoch)
	if s.Exists {
		d.number("replaces", uint64(s.Replaces))
	}
	d.flag("operator", s.Operator)
	if s.Claim != 0 {
		d.number("claim", s.Claim)
	}
	return d.String()
}

// actDetail says what an act asks for. The keys of a reset or a chunk are not
// listed: those that it moves are in Record.Keys.
func actDetail(a *offset.Act) string {
	var d detail
	switch {
	case a.Reset != nil:
		d.number("keys", uint64(len(a.Reset.Targets)))
	case a.Remove != nil:
		d.scope(&a.Remove.Scope)
	case a.Clone != nil:
		d.quoted("from", a.Clone.From)
		d.quoted("to", a.Clone.To)
		d.given("topic", a.Clone.Topic)
		d.broker(a.Clone.HasBroker, a.Clone.Broker)
	case a.Expire != nil:
		d.expire(a.Expire)
	case a.Take != nil:
		d.quoted(map[bool]string{true: "broker", false: "group"}[a.Take.ByBroker], a.Take.Name)
		d.quoted("holder", a.Take.Holder)
	case a.Import != nil:
		d.importStep(a.Import)
	}
	d.number("base", a.Base)
	if a.Claim != 0 {
		d.number("through-claim", a.Claim)
	}
	return d.String()
}

func (d *detail) scope(s *offset.Scope) {
	d.given("group", s.Group)
	d.given("topic", s.Topic)
	d.broker(s.HasBroker, s.Broker)
	if s.HasQueue {
		d.number("queue", uint64(s.QueueID))
	}
}

// expire lists at most offset.MaxNames groups.
func (d *detail) expire(e *offset.Expire) {
	d.number("groups", uint64(len(e.Groups)))
	for _, g := range e.Groups[:min(len(e.Groups), offset.MaxNames)] {
		d.quoted("group", g.Group)
	}
}

// hash names the content of an import: of a backup that is restored, its id.
func (d *detail) hash(h [32]byte) {
	if h != [32]byte{} {
		d.field("hash", hex.EncodeToString(h[:]))
	}
}

func (d *detail) importStep(i *offset.Import) {
	switch i.Step {
	case offset.ImportBegin:
		d.field("step", "begin")
		d.field("mode", [...]string{offset.ImportMerge: "merge", offset.ImportReplace: "replace"}[i.Mode&1])
		d.given("group", i.Group)
		d.number("chunks", uint64(i.Chunks))
		d.number("offsets", i.Offsets)
		d.hash(i.Hash)
	case offset.ImportChunk:
		d.field("step", "chunk")
		d.number("chunk", uint64(i.Chunk))
		d.number("keys", uint64(len(i.Targets)))
	case offset.ImportSwap:
		d.field("step", "swap")
		d.hash(i.Hash)
	case offset.ImportAbort:
		d.field("step", "abort")
	}
}
