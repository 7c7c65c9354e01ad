package offsetfile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// columns are the fields of a line: where each stands, -1 for none.
type columns struct {
	format                               Format
	head                                 string
	fields                               int
	group, topic, broker, queue, offsets int
	// headed: the first line must be head. Else it may.
	headed bool
}

var (
	ourColumns        = &columns{CSV, csvHead, 5, 0, 1, 2, 3, 4, true}
	nativeColumns     = &columns{Native, csvHead, 5, 0, 1, 2, 3, 4, true}
	kafkaColumns      = &columns{Kafka, "group,topic,partition,offset", 4, 0, 1, -1, 2, 3, false}
	kafkaGroupColumns = &columns{KafkaGroup, "topic,partition,offset", 3, -1, 0, -1, 1, 2, false}
)

// csvHead is the first line of a CSV file of ours.
const csvHead = "group,topic,broker,queue,offset"

// csvReader reads lines of fields. They may be quoted as in RFC 4180, but for
// line ends, which no name holds.
type csvReader struct {
	*scanner
	cols *columns
	b    *builder
	rows []csvRow
	// seal, of a native file, sees each row, and consumes the end.
	seal *seal
}

// readCSV reads a file of such lines.
func readCSV(s *scanner, o Options, cols *columns) (*File, error) {
	if err := s.skipMark(); err != nil {
		return nil, err
	}
	if err := needGroup(cols.format, o.Group, s.at()); err != nil {
		return nil, err
	}
	c := &csvReader{scanner: s, cols: cols, b: newBuilder(o, cols.format)}
	if cols.format.Groupless() {
		c.b.file.Report.Notes = append(c.b.file.Report.Notes, takenAs(cols.format, o.Group))
	}
	if err := c.file(); err != nil {
		return nil, err
	}
	return c.b.done(), nil
}

// skipMark consumes a byte order mark.
func (s *scanner) skipMark() error {
	b, err := s.ahead(3)
	if err == nil && string(b) == "\xef\xbb\xbf" {
		s.pos += 3
	}
	return err
}

// csvRow is one offset and where it stands, to name a key that occurs twice.
type csvRow struct {
	offset.Target
	at Position
}

// file reads all lines, a head line included.
func (c *csvReader) file() error {
	if err := c.head(); err != nil {
		return err
	}
	err := c.lines()
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

// head consumes the line that names the columns.
func (c *csvReader) head() error {
	b, err := c.ahead(len(c.cols.head) + 2)
	if err != nil {
		return err
	}
	rest, has := bytes.CutPrefix(b, []byte(c.cols.head))
	has = has && (len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r')
	at := c.at()
	switch {
	case has, c.cols.headed:
		f, _, err := c.record()
		if err != nil {
			return err
		}
		if got := strings.Join(f, ","); got != c.cols.head {
			return fault(at, "the line that names the columns is %q; it should be %q", clip([]byte(got)), c.cols.head)
		}
	case len(b) == 0:
		return fault(at, "the file is empty (0 bytes)")
	}
	return nil
}

// lines reads the lines behind the first; empty ones are passed over.
func (c *csvReader) lines() error {
	for {
		n, more, err := c.peek()
		switch {
		case err != nil:
			return err
		case !more:
			return c.seal.missing(c.at())
		case n == '\n':
			c.pos++
			c.newline()
		case n == '\r':
			c.pos++
		case n == '#' && c.seal != nil:
			return c.seal.end(c.scanner, len(c.rows))
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
	if len(f) != c.cols.fields {
		return fault(at, "%d fields; a line has %d: %s", len(f), c.cols.fields, c.cols.head)
	}
	id, err := parseInteger([]byte(f[c.cols.queue]), "queue id", 32, where[c.cols.queue])
	if err != nil {
		return err
	}
	n, err := parseInteger([]byte(f[c.cols.offsets]), "offset", 64, where[c.cols.offsets])
	if err != nil {
		return err
	}
	k := offset.Key{Group: c.b.o.Group, MessageQueue: offset.MessageQueue{Topic: f[c.cols.topic], Broker: c.b.o.Broker, QueueID: int32(id)}}
	if c.cols.group >= 0 {
		k.Group = f[c.cols.group]
	}
	if c.cols.broker >= 0 {
		k.Broker = f[c.cols.broker]
	}
	r := csvRow{offset.Target{Key: c.share(k), Offset: n}, at}
	c.seal.row(r.Target)
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
			return nil, nil, fault(c.at(), "more than 16 fields; a line has %d: %s", c.cols.fields, c.cols.head)
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
