package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/offset"
)

// Decoder decodes entries one after another and reuses its memory, which is
// bounded by what an entry of MaxEntry bytes needs. The zero value is ready.
// It belongs to one goroutine.
type Decoder struct {
	reader
	strings interner
	names   []string
	entry   Entry

	requests slab[Request]
	commits  slab[offset.Commits]
	topics   slab[offset.TopicCommits]
	queues   slab[offset.QueueCommit]
	targets  slab[offset.Target]
}

// Decode reads one entry. Nothing in the result points into data. The Entry,
// and all that hangs on it but for strings, is valid until the next Decode;
// strings are real ones and may be kept for ever.
//
// An error wraps offset.ErrLevel if the entry is of a level, or has a kind or
// flag, that this build does not know, and offset.ErrDamaged if it is not an
// entry or breaks a bound. Nothing is decoded by half.
func (d *Decoder) Decode(data []byte) (*Entry, error) {
	d.reader = reader{data: data}
	d.reset()
	d.head()
	d.readNames()
	d.readRequests()
	if d.err == nil && d.rest() > 0 {
		d.fail(damaged("%d bytes follow its end at byte %d", d.rest(), d.pos))
	}
	err := d.err
	d.reader = reader{}
	if err != nil {
		return nil, err
	}
	return &d.entry, nil
}

func (d *Decoder) reset() {
	d.names = d.names[:0]
	d.requests.reset()
	d.commits.reset()
	d.topics.reset()
	d.queues.reset()
	d.targets.reset()
}

// head reads the fixed part. The level is looked at before all that a later
// level may change.
func (d *Decoder) head() {
	switch data := d.data; {
	case len(data) > MaxEntry:
		d.fail(damaged("it has %d bytes; at most %d are possible", len(data), MaxEntry))
	case len(data) <= levelAt || data[0] != magic0 || data[1] != magic1:
		d.fail(damaged("it does not begin with the two bytes of one"))
	case data[levelAt] == 0:
		d.fail(damaged("level 0"))
	case data[levelAt] > offset.FormatLevel:
		d.fail(unknown("level %d", data[levelAt]))
	case len(data) < headLen:
		d.fail(damaged("it has %d bytes, less than its head", len(data)))
	case data[kindAt] != kindRequests:
		d.fail(unknown("kind %d of entry", data[kindAt]))
	default:
		d.entry.Level = data[levelAt]
		d.entry.Cluster = offset.ClusterID(data[clusterAt:timeAt])
		d.entry.Time = int64(binary.BigEndian.Uint64(data[timeAt:headLen]))
		d.pos = headLen
	}
}

func (d *Decoder) readNames() {
	for n := d.count("names", MaxEntry, minName); n > 0 && d.err == nil; n-- {
		size := int(d.upTo("length of a name", MaxString))
		if size == 0 && d.err == nil {
			d.fail(damaged("an empty name at byte %d", d.pos))
		}
		d.names = append(d.names, d.strings.intern(d.bytes(size)))
	}
}

func (d *Decoder) readRequests() {
	n := d.count("requests", MaxRequests, 1)
	list := d.requests.take(n)
	for i := range list {
		d.request(&list[i], list[:i])
		if d.err != nil {
			return
		}
		if n > 1 && list[i].Alone() {
			d.fail(damaged("request %d of %d must be alone in its entry", i+1, n))
			return
		}
	}
	d.entry.Requests = list
}

// request reads one request; before are those before it.
func (d *Decoder) request(r *Request, before []Request) {
	first := d.byte()
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
		r.Member = &offset.Member{ID: d.needed("member id"), API: d.name(), MaxLevel: d.byte()}
	case kindForget:
		d.flags(first, flagsOfAllOther)
		r.Forget = d.needed("member id")
	case kindLevel:
		d.flags(first, flagsOfAllOther)
		if r.Level = d.byte(); r.Level == 0 {
			d.fail(damaged("a raise to level 0 before byte %d", d.pos))
		}
	case kindCheckpoint:
		d.flags(first, flagsOfAllOther)
		r.Checkpoint = true
	default:
		d.fail(unknown("kind %d of request", first&kindMask))
	}
}

// flags returns the flags of a first byte; others than known end the reading.
func (d *Decoder) flags(first, known byte) byte {
	if f := first &^ kindMask &^ known; f != 0 {
		d.fail(unknown("flag %#x on a request of kind %d", f, first&kindMask))
	}
	return first
}

func (d *Decoder) caller(r *Request, first byte, before []Request) {
	switch {
	case first&flagSameCaller == 0:
		r.Principal, r.From = d.name(), d.name()
	case len(before) > 0:
		b := &before[len(before)-1]
		r.Principal, r.From = b.Principal, b.From
	}
}

// name reads a reference into the table of names.
func (d *Decoder) name() string {
	ref := d.uvarint()
	if ref == 0 {
		return ""
	}
	if ref > uint64(len(d.names)) {
		d.fail(damaged("name %d of %d before byte %d", ref, len(d.names), d.pos))
		return ""
	}
	return d.names[ref-1]
}

// needed reads a reference to a name that is not empty.
func (d *Decoder) needed(what string) string {
	s := d.name()
	if s == "" {
		d.fail(damaged("an empty %s before byte %d", what, d.pos))
	}
	return s
}

// cluster reads the cluster of a request.
func (d *Decoder) cluster(flags byte) (id offset.ClusterID) {
	if flags&flagForeign == 0 {
		return d.entry.Cluster
	}
	copy(id[:], d.bytes(len(id)))
	return id
}
