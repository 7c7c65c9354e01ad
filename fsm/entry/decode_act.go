package entry

import (
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

func (d *Decoder) readAct(r *Request, flags byte) {
	a := &offset.Act{Cluster: d.cluster(flags)}
	kind := d.byte()
	copy(a.ID[:], d.bytes(len(a.ID)))
	a.Base, a.Claim = d.uvarint(), d.uvarint()
	r.Step = d.uint32("step")
	switch kind {
	case actReset:
		a.Reset = &offset.Reset{Targets: d.readTargets()}
	case actRemove:
		a.Remove = &offset.Remove{Scope: d.scope()}
	case actClone:
		a.Clone = &offset.Clone{HasBroker: d.bool(), From: d.name(), To: d.name(), Topic: d.name(), Broker: d.name()}
	case actExpire:
		a.Expire = &offset.Expire{Groups: d.idle()}
	case actTake:
		a.Take = &offset.Take{ByBroker: d.bool(), Name: d.name(), Holder: d.name()}
	case actImport:
		a.Import = d.importStep()
	default:
		d.fail(unknown("kind %d of act", kind))
	}
	r.Act = a
}

func (d *Decoder) scope() offset.Scope {
	flags := d.byte()
	if flags&^(scopeBroker|scopeQueue) != 0 {
		d.fail(unknown("flag %#x of a scope", flags))
	}
	return offset.Scope{
		HasBroker: flags&scopeBroker != 0,
		HasQueue:  flags&scopeQueue != 0,
		Group:     d.name(),
		Topic:     d.name(),
		Broker:    d.name(),
		QueueID:   d.queueID(),
	}
}

func (d *Decoder) idle() []offset.Idle {
	n := d.count("groups", offset.MaxCommits, minIdle)
	if n == 0 {
		return nil
	}
	list := make([]offset.Idle, n)
	was := uint64(0)
	for i := range list {
		group := d.name()
		was += uint64(d.varint())
		list[i] = offset.Idle{Group: group, Seen: was}
	}
	return list
}

func (d *Decoder) importStep() *offset.Import {
	i := &offset.Import{Step: offset.ImportStep(d.byte()), Mode: offset.ImportMode(d.byte())}
	if i.Step > offset.ImportAbort || i.Mode > offset.ImportReplace {
		d.fail(unknown("step %d or mode %d of an import", i.Step, i.Mode))
	}
	i.Group = d.name()
	if d.bool() {
		copy(i.Hash[:], d.bytes(len(i.Hash)))
	}
	i.Chunks = d.uint32("number of chunks")
	i.Offsets = d.uvarint()
	i.Chunk = d.uint32("chunk")
	i.Targets = d.readTargets()
	return i
}

// readTargets reads keys with offsets, in runs that share their names.
func (d *Decoder) readTargets() []offset.Target {
	all := d.targets.take(d.count("keys", offset.MaxCommits, minTarget))
	was := int64(0)
	for rest := all; len(rest) > 0 && d.err == nil; {
		k := offset.Key{Group: d.name(), MessageQueue: offset.MessageQueue{Topic: d.name(), Broker: d.name()}}
		n := d.count("keys of a run", len(rest), minTarget)
		if n == 0 && d.err == nil {
			d.fail(damaged("an empty run of keys before byte %d", d.pos))
		}
		d.readRun(rest[:n], k, &was)
		rest = rest[n:]
	}
	return all
}

func (d *Decoder) readRun(run []offset.Target, k offset.Key, was *int64) {
	next := int64(0)
	for i := range run {
		id := next + d.varint()
		off := *was + d.varint()
		if id < 0 || id > math.MaxInt32 || off < 0 {
			d.fail(damaged("queue id %d or offset %d out of range before byte %d", id, off, d.pos))
			return
		}
		k.QueueID = int32(id)
		run[i] = offset.Target{Key: k, Offset: off}
		next, *was = id+1, off
	}
}
