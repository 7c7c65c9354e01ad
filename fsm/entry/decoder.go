package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
	"github.com/tidemark-mq/tidemark/offset"
)

// Decoder decodes entries one after another and reuses its memory, which is
// bounded by what an entry of MaxEntry bytes needs. The zero value is ready.
// It belongs to one goroutine.
type Decoder struct{ d decoder }

// Decode reads one entry. Nothing in the result points into data. The Entry,
// and all that it refers to except strings, is valid until the next Decode; strings
// are real ones and may be kept for ever.
//
// An error wraps offset.ErrLevel if the entry is of a level, or has a kind or
// flag, that this build does not know, and offset.ErrDamaged if it is not an
// entry or breaks a bound. Nothing is decoded by half.
func (d *Decoder) Decode(data []byte) (*Entry, error) { return d.d.decode(data) }

// decoder is the inside of a Decoder.
type decoder struct {
	bin.Reader
	strings  bin.Interner
	names    [tables][]string
	expanded int    // bytes of the names at full length
	last     []byte // the name before
	entry    Entry

	requests bin.Slab[Request]
	commits  bin.Slab[offset.Commits]
	topics   bin.Slab[offset.TopicCommits]
	queues   bin.Slab[offset.QueueCommit]
	targets  bin.Slab[offset.Target]
}

func (d *decoder) decode(data []byte) (*Entry, error) {
	d.Reader = bin.Reader{What: "log entry", Data: data}
	d.reset()
	d.head()
	d.readNames()
	d.readRequests()
	d.End()
	err := d.Err
	d.Reader = bin.Reader{}
	if err != nil {
		return nil, err
	}
	return &d.entry, nil
}

func (d *decoder) reset() {
	d.expanded = 0
	d.requests.Reset()
	d.commits.Reset()
	d.topics.Reset()
	d.queues.Reset()
	d.targets.Reset()
}

// head reads the fixed part. The level is looked at before all that a later
// level may change.
func (d *decoder) head() {
	switch data := d.Data; {
	case len(data) > MaxEntry:
		d.Damaged("it has %d bytes; at most %d are possible", len(data), MaxEntry)
	case len(data) <= levelAt || data[0] != magic0 || data[1] != magic1:
		d.Damaged("it does not begin with the two bytes of one")
	case data[levelAt] == 0:
		d.Damaged("level 0")
	case data[levelAt] > offset.FormatLevel:
		d.Unknown("level %d", data[levelAt])
	case len(data) < headLen:
		d.Damaged("it has %d bytes, less than its head", len(data))
	case data[kindAt] != kindRequests:
		d.Unknown("kind %d of entry", data[kindAt])
	default:
		d.entry.Level = data[levelAt]
		d.entry.Cluster = offset.ClusterID(data[clusterAt:timeAt])
		d.entry.Time = int64(binary.BigEndian.Uint64(data[timeAt:headLen]))
		d.Pos = headLen
	}
}

func (d *decoder) readNames() {
	for i := range d.names {
		d.last = d.last[:0]
		list := d.names[i][:0]
		for n := d.Count("names", MaxEntry, minName); n > 0 && d.Err == nil; n-- {
			list = append(list, d.readName())
		}
		d.names[i] = list
	}
}

// readName reads a name as its difference to the one before.
func (d *decoder) readName() string {
	shared := int(d.UpTo("what a name shares with the one before", uint64(len(d.last))))
	rest := d.Bytes(int(d.UpTo("length of a name", uint64(MaxString-shared))))
	d.last = append(d.last[:shared], rest...)
	switch d.expanded += len(d.last); {
	case d.Err != nil:
	case len(d.last) == 0:
		d.Damaged("an empty name before byte %d", d.Pos)
	case d.expanded > maxExpanded:
		d.Damaged("names of more than %d bytes before byte %d", maxExpanded, d.Pos)
	}
	return d.strings.Intern(d.last)
}

func (d *decoder) readRequests() {
	n := d.Count("requests", MaxRequests, 1)
	list := d.requests.Take(n)
	for i := range list {
		d.request(&list[i], list[:i])
		if d.Err != nil {
			return
		}
		if n > 1 && list[i].Alone() {
			d.Damaged("request %d of %d must be alone in its entry", i+1, n)
			return
		}
	}
	d.entry.Requests = list
}

// request reads one request; before are those before it.
func (d *decoder) request(r *Request, before []Request) {
	first := d.Byte()
	*r = Request{}
	d.caller(r, first, before)
	switch first & kindMask {
	case kindCommits:
		d.readCommits(r, d.flags(first, flagsOfCommits))
	case kindSet:
		d.readSet(r, d.flags(first, flagsOfSet))
	case kindAct:
		d.readAct(r, d.flags(first, flagsOfAct))
	case kindAnnounce:
		d.flags(first, flagsOfAllOther)
		r.Member = &offset.Member{ID: d.memberID(), API: d.name(tableOthers), MaxLevel: d.Byte()}
	case kindForget:
		d.flags(first, flagsOfAllOther)
		r.Forget = d.memberID()
	case kindLevel:
		d.flags(first, flagsOfAllOther)
		if r.Level = d.Byte(); r.Level == 0 {
			d.Damaged("a raise to level 0 before byte %d", d.Pos)
		}
	case kindCheckpoint:
		d.flags(first, flagsOfAllOther)
		r.Checkpoint = true
	default:
		d.later(r, first)
	}
}

// flags returns the flags of a first byte; others than known end the reading.
func (d *decoder) flags(first, known byte) byte {
	if f := first &^ kindMask &^ known; f != 0 {
		d.Unknown("flag %#x on a request of kind %d", f, first&kindMask)
	}
	return first
}

func (d *decoder) caller(r *Request, first byte, before []Request) {
	switch {
	case first&flagSameCaller == 0:
		r.Principal, r.From = d.name(tableOthers), d.name(tableOthers)
	case len(before) > 0:
		b := &before[len(before)-1]
		r.Principal, r.From = b.Principal, b.From
	}
}

// name reads a reference into a table of names.
func (d *decoder) name(table int) string {
	ref, list := d.Uvarint(), d.names[table]
	if ref == 0 {
		return ""
	}
	if ref > uint64(len(list)) {
		d.Damaged("name %d of %d before byte %d", ref, len(list), d.Pos)
		return ""
	}
	return list[ref-1]
}

// memberID reads a reference to a name that is not empty.
func (d *decoder) memberID() string {
	s := d.name(tableOthers)
	if s == "" {
		d.Damaged("an empty member id before byte %d", d.Pos)
	}
	return s
}

// cluster reads the cluster of a request.
func (d *decoder) cluster(flags byte) (id offset.ClusterID) {
	if flags&flagForeign == 0 {
		return d.entry.Cluster
	}
	copy(id[:], d.Bytes(len(id)))
	return id
}
