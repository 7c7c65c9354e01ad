package offsetfile

import (
	"cmp"
	"slices"
)

// builder makes a File of what the parsers find.
type builder struct {
	o    Options
	file *File
	// key is the key being read as it stands in the file, current what it means;
	// dropped if the whole key is skipped.
	key     string
	current Entry
	dropped bool
	// queues collects the queues of the key; pool is where they go then, so
	// that small entries share an allocation.
	queues, pool []Queue
	// lmq counts the keys that came from lmqOffsetTable.
	lmq int
}

// poolSize is how many queues are allocated at a time.
const poolSize = 4096

func newBuilder(o Options, f Format) *builder {
	return &builder{o: o, file: &File{Report: Report{Format: f}}}
}

// entry begins a key of a JSON file.
func (b *builder) entry(key string, lmq bool, at Position) error {
	if lmq {
		b.lmq++
	}
	topic, group, why := splitKey(key)
	if why == "" {
		why = badNames(group, topic, b.o.Broker, b.o.StrictNames)
	}
	b.key, b.current, b.dropped = key, Entry{Group: group, Topic: topic, Broker: b.o.Broker}, why != ""
	b.queues = b.queues[:0]
	if b.dropped {
		b.skip(Skip{Position: at, Key: key, Reason: why})
	}
	return nil
}

// queue takes one queue of the key, or skips it.
func (b *builder) queue(id int32, n int64, at Position) {
	why := ""
	switch {
	case b.dropped:
		return
	case id < 0:
		why = "the queue id is negative"
	case n < 0:
		why = "the offset is negative, which means that there is none"
	}
	if why != "" {
		b.skip(Skip{Position: at, Key: b.key, Queue: &id, Value: &n, Reason: why})
		return
	}
	b.queues = append(b.queues, Queue{id, n})
}

func (b *builder) skip(s Skip) {
	r := &b.file.Report
	r.SkippedTotal++
	if len(r.Skipped) < MaxSkips {
		r.Skipped = append(r.Skipped, s)
	}
}

// end keeps the key if it has offsets.
func (b *builder) end() {
	if b.dropped || len(b.queues) == 0 {
		return
	}
	b.current.Queues = b.keep(b.queues)
	b.file.Entries = append(b.file.Entries, b.current)
}

// keep copies the queues, in order, to where they stay.
func (b *builder) keep(q []Queue) []Queue {
	slices.SortFunc(q, func(x, y Queue) int { return cmp.Compare(x.ID, y.ID) })
	if len(q) > poolSize/4 {
		return slices.Clone(q)
	}
	if cap(b.pool)-len(b.pool) < len(q) {
		b.pool = make([]Queue, 0, poolSize)
	}
	from := len(b.pool)
	b.pool = append(b.pool, q...)
	return b.pool[from:len(b.pool):len(b.pool)]
}

// done puts the file in order.
func (b *builder) done() *File {
	f := b.file
	slices.SortFunc(f.Entries, func(x, y Entry) int { return x.compare(&y) })
	f.Report.Entries, f.Report.Offsets = len(f.Entries), f.Offsets()
	return f
}
