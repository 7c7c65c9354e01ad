package entry

import (
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

func (d *decoder) readAct(r *Request, flags byte) {
	a := &offset.Act{Cluster: d.cluster(flags)}
	kind := d.Byte()
	copy(a.ID[:], d.Bytes(len(a.ID)))
	a.Base, a.Claim = d.Uvarint(), d.Uvarint()
	r.Step = d.Uint32("step")
	switch kind {
	case actReset:
		a.Reset = &offset.Reset{Targets: d.readTargets()}
	case actRemove:
		a.Remove = &offset.Remove{Scope: d.scope()}
	case actClone:
		a.Clone = &offset.Clone{HasBroker: d.Bool(), From: d.name(tableGroups), To: d.name(tableGroups), Topic: d.name(tableTopics), Broker: d.name(tableBrokers)}
	case actExpire:
		a.Expire = &offset.Expire{Groups: d.idle()}
	case actTake:
		a.Take = d.take()
	case actImport:
		a.Import = d.importStep()
	default:
		d.Unknown("kind %d of act", kind)
	}
	r.Act = a
}

func (d *decoder) scope() offset.Scope {
	flags := d.Byte()
	if flags&^(scopeBroker|scopeQueue) != 0 {
		d.Unknown("flag %#x of a scope", flags)
	}
	return offset.Scope{
		HasBroker: flags&scopeBroker != 0,
		HasQueue:  flags&scopeQueue != 0,
		Group:     d.name(tableGroups),
		Topic:     d.name(tableTopics),
		Broker:    d.name(tableBrokers),
		QueueID:   d.QueueID(),
	}
}

func (d *decoder) take() *offset.Take {
	if d.Bool() {
		return &offset.Take{ByBroker: true, Name: d.name(tableBrokers), Holder: d.name(tableOthers)}
	}
	return &offset.Take{Name: d.name(tableGroups), Holder: d.name(tableOthers)}
}

func (d *decoder) idle() []offset.Idle {
	n := d.Count("groups", offset.MaxCommits, minIdle)
	if n == 0 {
		return nil
	}
	list := make([]offset.Idle, n)
	was := uint64(0)
	for i := range list {
		group := d.name(tableGroups)
		was += uint64(d.Varint())
		list[i] = offset.Idle{Group: group, Seen: was}
	}
	return list
}

func (d *decoder) importStep() *offset.Import {
	i := &offset.Import{Step: offset.ImportStep(d.Byte()), Mode: offset.ImportMode(d.Byte())}
	if i.Step > offset.ImportAbort || i.Mode > offset.ImportReplace {
		d.Unknown("step %d or mode %d of an import", i.Step, i.Mode)
	}
	i.Group = d.name(tableGroups)
	if d.Bool() {
		copy(i.Hash[:], d.Bytes(len(i.Hash)))
	}
	i.Chunks = d.Uint32("number of chunks")
	i.Offsets = d.Uvarint()
	i.Chunk = d.Uint32("chunk")
	i.Targets = d.readTargets()
	return i
}

// readTargets reads keys with offsets, in runs that share their names.
func (d *decoder) readTargets() []offset.Target {
	all := d.targets.Take(d.Count("keys", offset.MaxCommits, minTarget))
	var names topicNames
	was := int64(0)
	for rest := all; len(rest) > 0 && d.Err == nil; {
		topic, n := d.topic(&names, len(rest), minTarget)
		k := offset.Key{Group: names.group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: names.broker}}
		if n == 0 && d.Err == nil {
			d.Damaged("an empty run of keys before byte %d", d.Pos)
		}
		d.readRun(rest[:n], k, &was)
		rest = rest[n:]
	}
	return all
}

func (d *decoder) readRun(run []offset.Target, k offset.Key, was *int64) {
	next := int64(0)
	for i := range run {
		id := next + d.Varint()
		off := *was + d.Varint()
		if id < 0 || id > math.MaxInt32 || off < 0 {
			d.Damaged("queue id %d or offset %d out of range before byte %d", id, off, d.Pos)
			return
		}
		k.QueueID = int32(id)
		run[i] = offset.Target{Key: k, Offset: off}
		next, *was = id+1, off
	}
}
