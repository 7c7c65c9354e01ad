package fsm

import (
	"math"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// The shortest that parts of a block can be.
const (
	minKey   = 4
	minQueue = 2
)

// blockDecoder reads the content of blocks. Its memory is used again.
type blockDecoder struct {
	bin.Reader
	rest table.Rest
	told bool // rest has been handed out

	names   [3][]byte // of the run before
	strings [3]string
	intern  bin.Interner
	run     table.TopicState
}

// part reads a block that is neither of runs nor the end into rest.
func (d *blockDecoder) part(kind byte, content []byte) error {
	d.Reader = bin.Reader{What: "snapshot", Data: content}
	r := &d.rest
	switch kind {
	case blockState:
		d.state(r)
	case blockFloors:
		r.Floors = list(d, r.Floors, offset.MaxFloors, d.floor)
	case blockClaims:
		r.Claims = list(d, r.Claims, offset.MaxClaims, d.claim)
	case blockActs:
		r.Acts = list(d, r.Acts, offset.MaxActs, d.act)
	case blockImport:
		i := d.importStatus()
		r.Import = &i
	case blockMembers:
		r.Members = list(d, r.Members, offset.MaxMembers, d.member)
	default:
		d.later(kind)
	}
	d.End()
	return d.Err
}

// list appends parts until the block ends.
func list[T any](d *blockDecoder, have []T, limit int, part func() T) []T {
	for d.Err == nil && d.Rest() > 0 {
		if len(have) == limit {
			d.Damaged("more than %d parts of a kind", limit)
			break
		}
		have = append(have, part())
	}
	return have
}

func (d *blockDecoder) state(r *table.Rest) {
	r.Index, r.Time = d.Uvarint(), int64(d.Uvarint())
	r.LastAct, r.Evicted = d.Uvarint(), d.Uvarint()
	r.Base = table.Stamp{Index: d.Uvarint(), Time: int64(d.Uvarint())}
	r.FloorOfAll = d.Uvarint()
	r.Queues, r.StagedQueues = d.Uvarint(), d.Uvarint()
}

func (d *blockDecoder) name() string {
	return d.intern.Intern(d.Bytes(int(d.UpTo("length of a name", entry.MaxString))))
}

func (d *blockDecoder) key() offset.Key {
	return offset.Key{Group: d.name(), MessageQueue: offset.MessageQueue{Topic: d.name(), Broker: d.name(), QueueID: d.QueueID()}}
}

func (d *blockDecoder) floor() table.Floor {
	return table.Floor{Topic: d.Bool(), Name: d.name(), Index: d.Uvarint(), Order: d.Uint32("order")}
}

func (d *blockDecoder) claim() table.Claim {
	return table.Claim{ByBroker: d.Bool(), Name: d.name(), Holder: d.name(), Index: d.Uvarint()}
}

func (d *blockDecoder) act() (a table.ActRecord) {
	copy(a.ID[:], d.Bytes(len(a.ID)))
	copy(a.Content[:], d.Bytes(len(a.Content)))
	flags := d.Byte()
	if flags&^(actDone|actBegun|actSeen) != 0 {
		d.Unknown("flag %#x of an act", flags)
	}
	a.Begun, a.Seen = flags&actBegun != 0, flags&actSeen != 0
	r := &a.Result
	r.Done, r.Code = flags&actDone != 0, offset.Code(d.Byte())
	a.First, a.Order = d.Uvarint(), d.Uint32("order")
	r.Index, r.Next = d.Uvarint(), d.Uint32("step")
	r.Changed, r.Kept, a.Item = d.Uvarint(), d.Uvarint(), d.Uint32("item")
	a.Cursor = d.key()
	for n := d.Count("names of an act", offset.MaxNames, minKey); n > 0; n-- {
		r.Names = append(r.Names, d.key())
	}
	return a
}

func (d *blockDecoder) importStatus() (i offset.ImportStatus) {
	if d.rest.Import != nil {
		d.Damaged("two imports are under way")
	}
	copy(i.ID[:], d.Bytes(len(i.ID)))
	if i.Mode = offset.ImportMode(d.Byte()); i.Mode > offset.ImportReplace {
		d.Unknown("mode %d of an import", i.Mode)
	}
	copy(i.Hash[:], d.Bytes(len(i.Hash)))
	i.Group = d.name()
	i.Chunks, i.Offsets, i.Next, i.Base = d.Uint32("chunks"), d.Uvarint(), d.Uint32("chunk"), d.Uvarint()
	return i
}

func (d *blockDecoder) member() offset.Member {
	return offset.Member{ID: d.name(), API: d.name(), MaxLevel: d.Byte()}
}

// runs reads a block of runs and yields each.
func (d *blockDecoder) runs(content []byte, yield func(*table.TopicState) error) error {
	d.Reader = bin.Reader{What: "snapshot", Data: content}
	for i := range d.names {
		d.names[i], d.strings[i] = d.names[i][:0], ""
	}
	var was table.QueueState
	for d.Err == nil && d.Rest() > 0 {
		d.readRun(&was)
		if d.Err != nil {
			break
		}
		if err := yield(&d.run); err != nil {
			return err
		}
	}
	return d.Err
}

// readRun reads one run; was is the queue before it in the block.
func (d *blockDecoder) readRun(was *table.QueueState) {
	flags := d.Byte()
	if flags&^(runStaged|runBased) != 0 {
		d.Unknown("flag %#x of a run", flags)
	}
	t := &d.run
	*t = table.TopicState{Staged: flags&runStaged != 0, Queues: t.Queues[:0]}
	t.Group, t.Topic, t.Broker = d.shared(0), d.shared(1), d.shared(2)
	if flags&runBased != 0 {
		t.Base = table.Stamp{Index: d.Uvarint(), Time: int64(d.Uvarint())}
	}
	was.QueueID = -1
	for n := d.Count("queues", maxBlock, minQueue); n > 0 && d.Err == nil; n-- {
		t.Queues = append(t.Queues, d.queue(was))
	}
}

// queue reads a queue as its difference to the one before.
func (d *blockDecoder) queue(was *table.QueueState) table.QueueState {
	step := d.Uvarint()
	id := int64(was.QueueID) + 1 + bin.Unzigzag(step>>2)
	was.Offset += d.Varint()
	if id < 0 || id > math.MaxInt32 || was.Offset < 0 {
		d.Damaged("queue id %d or offset %d out of range", id, was.Offset)
		return table.QueueState{}
	}
	was.QueueID = int32(id)
	q := table.QueueState{QueueID: was.QueueID, Offset: was.Offset, Pending: step&queuePending != 0}
	if step&queueBased == 0 {
		was.Index += uint64(d.Varint())
		was.Epoch += uint64(d.Varint())
		was.Time += d.Varint()
		q.Index, q.Epoch, q.Time = was.Index, was.Epoch, was.Time
	}
	return q
}

// shared reads the i-th name of a run, which begins as that of the run before.
func (d *blockDecoder) shared(i int) string {
	before := d.names[i]
	keep := int(d.UpTo("what a name shares with the one before", uint64(len(before))))
	rest := d.Bytes(int(d.UpTo("length of a name", uint64(entry.MaxString-keep))))
	if keep == len(before) && len(rest) == 0 {
		return d.strings[i]
	}
	d.names[i] = append(before[:keep], rest...)
	d.strings[i] = d.intern.Intern(d.names[i])
	return d.strings[i]
}
