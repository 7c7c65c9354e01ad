package offsetfile

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// lmqPrefix begins the names of groups whose offsets a broker keeps in
// lmqOffsetTable, one to a topic.
const lmqPrefix = "%LMQ%"

// IsLMQ tells whether a broker with enableLmq keeps the offsets of a group apart
// from others: WriteJSON then puts them into lmqOffsetTable.
func IsLMQ(group string) bool { return strings.HasPrefix(group, lmqPrefix) }

// WriteJSON writes targets as a consumerOffset.json that RocketMQ reads: valid
// JSON, one key a line, in the order of targets, which come in that of
// offset.Key.Compare and are of one broker, since the file has no place for a
// broker's name. With base, an earlier file, what targets does not hold stays as
// it was there, negative offsets and foreign members included.
func WriteJSON(w io.Writer, targets iter.Seq[offset.Target], base io.Reader) error {
	var b *baseFile
	if base != nil {
		var err error
		if b, err = readBase(base); err != nil {
			return fmt.Errorf("reading the base file: %w", err)
		}
	}
	j := &jsonWriter{w: bufio.NewWriter(w), base: b}
	return j.file(targets)
}

// jsonWriter writes one consumerOffset.json.
type jsonWriter struct {
	w    *bufio.Writer
	base *baseFile
	// broker is that of the first target.
	broker    string
	hasBroker bool
	// lmq collects what goes into lmqOffsetTable.
	lmq []offset.Target
	// lines counts the lines written into the table under way.
	lines int
}

func (j *jsonWriter) file(targets iter.Seq[offset.Target]) error {
	j.print("{\n")
	if j.base != nil {
		for _, m := range j.base.members {
			j.print("\t", quote(m.name), ":", string(m.value), ",\n")
		}
	}
	j.print("\t\"offsetTable\":{")
	if err := j.table(targets); err != nil {
		return err
	}
	j.rest(false, (*jsonWriter).queues)
	j.print("\n\t}")
	if j.hasLMQ() {
		j.print(",\n\t\"lmqOffsetTable\":{")
		j.lines = 0
		for _, t := range j.lmq {
			j.single(t.Key.Topic+"@"+t.Key.Group, t.Offset)
		}
		j.rest(true, func(j *jsonWriter, key string, q []Queue) { j.single(key, q[0].Offset) })
		j.print("\n\t}")
	}
	j.print("\n}\n")
	if err := j.w.Flush(); err != nil {
		return fmt.Errorf("writing the offset file: %w", err)
	}
	return nil
}

func (j *jsonWriter) hasLMQ() bool {
	return len(j.lmq) > 0 || j.base != nil && j.base.hasLMQ
}

// table writes targets, one line for each run of the same group and topic.
func (j *jsonWriter) table(targets iter.Seq[offset.Target]) error {
	var (
		key    offset.Key
		queues []Queue
	)
	for t := range targets {
		if err := j.check(t); err != nil {
			return err
		}
		if len(queues) > 0 && !sameEntry(key, t.Key) {
			j.run(key, queues)
			queues = queues[:0]
		}
		key, queues = t.Key, append(queues, Queue{t.Key.QueueID, t.Offset})
	}
	if len(queues) > 0 {
		j.run(key, queues)
	}
	return nil
}

// run writes the queues of one key, or keeps them for lmqOffsetTable.
func (j *jsonWriter) run(k offset.Key, q []Queue) {
	if j.toLMQ(k, q) {
		j.lmq = append(j.lmq, offset.Target{Key: k, Offset: q[0].Offset})
		return
	}
	j.queues(k.Topic+"@"+k.Group, q)
}

// check refuses what the file cannot express.
func (j *jsonWriter) check(t offset.Target) error {
	if !j.hasBroker {
		j.broker, j.hasBroker = t.Key.Broker, true
	}
	switch {
	case j.broker != t.Key.Broker:
		return offset.Errorf(offset.ErrInvalid, "a consumerOffset.json holds one broker's offsets, and these are of %q and %q; name one broker (--broker), or write CSV", j.broker, t.Key.Broker)
	case strings.Contains(t.Key.Topic, "@"):
		return offset.Errorf(offset.ErrInvalid, "topic %q holds an '@', which a consumerOffset.json cannot express; write CSV", t.Key.Topic)
	}
	return nil
}

// toLMQ tells whether a broker looks for the key in lmqOffsetTable: only
// queue 0 of an LMQ group fits there. Where the base has it in offsetTable, it
// stays: that broker keeps no LMQ table.
func (j *jsonWriter) toLMQ(k offset.Key, q []Queue) bool {
	if !IsLMQ(k.Group) || len(q) != 1 || q[0].ID != 0 {
		return false
	}
	return j.base == nil || !j.base.inTable(k)
}

// queues writes one line of offsetTable; queues of the base that are not
// among q stay.
func (j *jsonWriter) queues(key string, q []Queue) {
	if j.base != nil {
		q = j.base.overlay(key, q)
	}
	j.line(key)
	j.print("{")
	for i, x := range q {
		if i > 0 {
			j.print(",")
		}
		j.print(`"`, strconv.FormatInt(int64(x.ID), 10), `":`, strconv.FormatInt(x.Offset, 10))
	}
	j.print("}")
}

// single writes one line of lmqOffsetTable.
func (j *jsonWriter) single(key string, n int64) {
	if j.base != nil {
		j.base.overlay(key, nil)
	}
	j.line(key)
	j.print(strconv.FormatInt(n, 10))
}

// rest writes what only the base has, in the order of the base.
func (j *jsonWriter) rest(lmq bool, write func(*jsonWriter, string, []Queue)) {
	if j.base == nil {
		return
	}
	for _, key := range j.base.keys {
		if e := j.base.entries[key]; e != nil && e.lmq == lmq && !e.taken {
			write(j, key, e.queues)
		}
	}
}

// line begins a line of a table.
func (j *jsonWriter) line(key string) {
	if j.lines > 0 {
		j.print(",")
	}
	j.lines++
	j.print("\n\t\t", quote(key), ":")
}

// print writes; the first error comes back from Flush.
func (j *jsonWriter) print(parts ...string) {
	for _, s := range parts {
		_, _ = j.w.WriteString(s)
	}
}

// quote gives s as a JSON string. Bytes that are no UTF-8, which only a base
// can hold, stay as they are.
func quote(s string) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
