package offsetfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// csvHead is the first line of a CSV file.
const csvHead = "group,topic,broker,queue,offset"

// csvReader reads lines of group, topic, broker, queue, offset. Fields may be
// quoted as in RFC 4180, but for line ends, which no name holds.
type csvReader struct {
	*scanner
	b    *builder
	rows []csvRow
}

// csvRow is one offset and where it stands, to name a key that occurs twice.
type csvRow struct {
	offset.Target
	at Position
}

// file reads all lines, head line included.
func (c *csvReader) file() error {
	head, _, err := c.record()
	if err != nil {
		return err
	}
	if got := strings.Join(head, ","); got != csvHead {
		return fault(Position{Line: 1, Column: 1}, "the first line is %q; it should be %q", clip([]byte(got)), csvHead)
	}
	err = c.lines()
	if twin := c.twin(); twin != nil { // it stands before what lines found
		return fault(twin.at, "%s occurs twice", twin.Key)
	}
	if err != nil {
		return err
	}
	for i := range c.rows {
		c.add(&c.rows[i], i > 0 && sameEntry(c.rows[i].Key, c.rows[i-1].Key))
	}
	c.b.end()
	return nil
}

// lines reads the lines behind the first; empty ones are passed over.
func (c *csvReader) lines() error {
	for {
		n, more, err := c.peek()
		switch {
		case err != nil || !more:
			return err
		case n == '\n':
			c.pos++
			c.newline()
		case n == '\r':
			c.pos++
		default:
			if err := c.row(); err != nil {
				return err
			}
		}
	}
}

// row reads one line.
func (c *csvReader) row() error {
	at := c.at()
	f, where, err := c.record()
	if err != nil {
		return err
	}
	if len(f) != 5 {
		return fault(at, "%d fields; a line has 5: %s", len(f), csvHead)
	}
	id, err := parseInteger([]byte(f[3]), "queue id", 32, where[3])
	if err != nil {
		return err
	}
	n, err := parseInteger([]byte(f[4]), "offset", 64, where[4])
	if err != nil {
		return err
	}
	k := offset.Key{Group: f[0], MessageQueue: offset.MessageQueue{Topic: f[1], Broker: f[2], QueueID: int32(id)}}
	r := csvRow{offset.Target{Key: c.share(k), Offset: n}, at}
	c.skipBad(r)
	c.rows = append(c.rows, r)
	return nil
}

// share takes the names of the row before where they are the same, so that
// each is in memory once.
func (c *csvReader) share(k offset.Key) offset.Key {
	if len(c.rows) == 0 {
		return k
	}
	last := &c.rows[len(c.rows)-1].Key
	for _, s := range []struct{ to, from *string }{{&k.Group, &last.Group}, {&k.Topic, &last.Topic}, {&k.Broker, &last.Broker}} {
		if *s.to == *s.from {
			*s.to = *s.from
		}
	}
	return k
}

// twin puts the rows in the order of keys and returns the first in the file
// whose key stands before it already; nil if there is none.
func (c *csvReader) twin() *csvRow {
	slices.SortFunc(c.rows, func(x, y csvRow) int {
		return cmp.Or(x.Key.Compare(y.Key), cmp.Compare(x.at.Byte, y.at.Byte))
	})
	var first *csvRow
	for i := 1; i < len(c.rows); i++ {
		if r := &c.rows[i]; r.Key == c.rows[i-1].Key && (first == nil || r.at.Byte < first.at.Byte) {
			first = r
		}
	}
	return first
}

func sameEntry(a, b offset.Key) bool {
	return a.Group == b.Group && a.Topic == b.Topic && a.Broker == b.Broker
}

// skipBad lists the row if it is left out.
func (c *csvReader) skipBad(r csvRow) {
	if why := c.why(r); why != "" {
		key := fmt.Sprintf("%s,%s,%s", r.Key.Group, r.Key.Topic, r.Key.Broker)
		c.b.skip(Skip{Position: r.at, Key: key, Queue: &r.Key.QueueID, Value: &r.Offset, Reason: why})
	}
}

// why says why a row is left out; empty if it is not.
func (c *csvReader) why(r csvRow) string {
	switch {
	case r.Key.Group == "":
		return "no group"
	case r.Key.Topic == "":
		return "no topic"
	case r.Key.QueueID < 0:
		return "the queue id is negative"
	case r.Offset < 0:
		return "the offset is negative, which means that there is none"
	}
	return badNames(r.Key.Group, r.Key.Topic, r.Key.Broker, c.b.o.StrictNames)
}

// add gives a row to the builder, whose current entry it continues or ends.
func (c *csvReader) add(r *csvRow, continues bool) {
	if !continues {
		c.b.end()
		c.b.current = Entry{Group: r.Key.Group, Topic: r.Key.Topic, Broker: r.Key.Broker}
		c.b.queues = c.b.queues[:0]
	}
	if c.why(*r) == "" {
		c.b.queues = append(c.b.queues, Queue{r.Key.QueueID, r.Offset})
	}
}

// record reads the fields of one line, and consumes its end.
func (c *csvReader) record() (fields []string, at []Position, err error) {
	for {
		at = append(at, c.at())
		f, err := c.field()
		if err != nil {
			return nil, nil, err
		}
		fields = append(fields, f)
		b, err := c.ahead(2)
		switch {
		case err != nil:
			return nil, nil, err
		case len(b) > 0 && b[0] == ',' && len(fields) < 16:
			c.pos++
		case len(b) > 0 && b[0] == ',':
			return nil, nil, fault(c.at(), "more than 16 fields; a line has 5: %s", csvHead)
		default:
			return fields, at, nil
		}
	}
}

// field reads one field, quoted or not, up to the comma or line end behind it.
func (c *csvReader) field() (string, error) {
	begin := c.at()
	q, ok, err := c.peek()
	if err != nil || !ok {
		return "", err
	}
	if q != '"' {
		return c.plain(begin)
	}
	c.pos++
	c.text = c.text[:0]
	for {
		b, err := c.ahead(2)
		switch {
		case err != nil:
			return "", err
		case len(b) == 0 || b[0] == '\n' || b[0] == '\r':
			return "", fault(begin, "the quoted field that begins here has no end on its line")
		case len(b) == 2 && b[0] == '"' && b[1] == '"':
			c.pos++
		case b[0] == '"':
			c.pos++
			return string(c.text), c.behindQuote()
		}
		if err := c.take(begin); err != nil {
			return "", err
		}
	}
}

// behindQuote checks that a quoted field ends the field.
func (c *csvReader) behindQuote() error {
	n, ok, err := c.peek()
	if err == nil && ok && n != ',' && n != '\r' && n != '\n' {
		return fault(c.at(), "found %s behind a quoted field", show(n))
	}
	return err
}

func (c *csvReader) plain(begin Position) (string, error) {
	c.text = c.text[:0]
	for {
		n, ok, err := c.peek()
		switch {
		case err != nil:
			return "", err
		case !ok || n == ',' || n == '\n' || n == '\r':
			return string(c.text), nil
		case n == '"':
			return "", fault(c.at(), "found '\"' inside a field; quote the whole field and double it")
		}
		if err := c.take(begin); err != nil {
			return "", err
		}
	}
}

// take appends the next byte to the field.
func (c *csvReader) take(begin Position) error {
	if len(c.text) >= MaxString {
		return fault(begin, "the field that begins here has more than %d bytes", MaxString)
	}
	c.text = append(c.text, c.buf[c.pos])
	c.pos++
	return nil
}
