package offsetfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// sink takes the offsets of a JSON file as they are read, each key and each
// queue once, negative numbers included.
type sink interface {
	// entry begins a key of a table; what follows belongs to it.
	entry(key string, lmq bool, at Position) error
	queue(id int32, offset int64, at Position)
	// end ends the key.
	end()
}

// parser reads the members of a consumerOffset.json.
type parser struct {
	*scanner
	sink sink
	// member, if set, is told each top-level member that is no table of
	// offsets, and where its value begins and ends.
	member func(name string, from, to int64)
	bare   func(from, to int64)
	// seen holds the keys of both tables.
	seen map[string]struct{}
	// ids are the queues of the entry being read; more than many move to set.
	ids     []int32
	set     map[int32]struct{}
	members []string
	version *DataVersion
	notes   []string
}

// many is the number of queues of one entry above which a map finds twins.
const many = 32

// The tables of offsets, and the members that hold none.
const (
	offsetTable = "offsetTable"
	lmqTable    = "lmqOffsetTable"
)

var derived = []string{"groupTopicMap", "pullOffsetTable", "resetOffsetTable"}

func newParser(s *scanner, k sink) *parser {
	return &parser{scanner: s, sink: k, seen: map[string]struct{}{}}
}

// file reads a whole file.
func (p *parser) file() error {
	if err := p.object(p.top, nil); err != nil {
		return err
	}
	if err := p.space(); err != nil {
		return err
	}
	c, more, err := p.peek()
	if err != nil {
		return err
	}
	if more {
		return fault(p.at(), "found %s behind the end of the object", show(c))
	}
	return p.complete()
}

// complete refuses a file that holds no table: it is not what it seems.
func (p *parser) complete() error {
	if slices.Contains(p.members, offsetTable) || slices.Contains(p.members, lmqTable) {
		return nil
	}
	found := "the object is empty"
	if len(p.members) > 0 {
		found = "the members found are " + quoteAll(p.members)
	}
	return fault(Position{Line: 1, Column: 1}, "no offsetTable or lmqOffsetTable; %s. This is not a file of consumer offsets", found)
}

func quoteAll(names []string) string {
	const most = 10
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", clip([]byte(n)))
	}
	return b.String()
}

// top reads the value of a top-level member, whose name is in p.text.
func (p *parser) top(at Position) error {
	name := string(p.text)
	if slices.Contains(p.members, name) {
		return fault(at, "%q occurs twice", clip(p.text))
	}
	if len(p.members) == MaxDepth {
		return fault(at, "more than %d members; this is not a file of consumer offsets", MaxDepth)
	}
	p.members = append(p.members, name)
	switch name {
	case offsetTable:
		return p.object(p.queues, nil)
	case lmqTable:
		return p.object(p.single, nil)
	}
	if _, err := p.next("a value"); err != nil {
		return err
	}
	from := p.at().Byte
	if err := p.other(name); err != nil {
		return err
	}
	if p.member != nil {
		p.member(name, from, p.at().Byte)
	}
	return nil
}

// other reads a member that holds no offsets.
func (p *parser) other(name string) error {
	if name == "dataVersion" && p.member == nil {
		return p.dataVersion()
	}
	if !slices.Contains(derived, name) && name != "dataVersion" {
		p.notes = append(p.notes, fmt.Sprintf("ignored the member %q, which is no table of offsets", clip([]byte(name))))
	}
	return p.skip(1, p.bare)
}

func (p *parser) dataVersion() error {
	c, err := p.next("a value")
	if err != nil {
		return err
	}
	if c != '{' { // null, in files of some tools
		return p.skip(1, nil)
	}
	p.version = &DataVersion{}
	return p.object(func(Position) error {
		name := string(p.text)
		var to *int64
		switch name {
		case "counter":
			to = &p.version.Counter
		case "timestamp":
			to = &p.version.Timestamp
		case "stateVersion":
			p.version.StateVersion = new(int64)
			to = p.version.StateVersion
		default:
			return p.skip(2, nil)
		}
		n, err := p.integer(name, 64)
		*to = n
		return err
	}, nil)
}

// begin checks the key in p.text and opens its entry.
func (p *parser) begin(at Position, lmq bool) error {
	key := string(p.text)
	if _, twice := p.seen[key]; twice {
		return fault(at, "the key %q occurs twice", clip(p.text))
	}
	p.seen[key] = struct{}{}
	return p.sink.entry(key, lmq, at)
}

// queues reads the value of a key of offsetTable: queue to offset.
func (p *parser) queues(at Position) error {
	if err := p.begin(at, false); err != nil {
		return err
	}
	p.ids, p.set = p.ids[:0], nil
	c, err := p.next("'{'")
	if err != nil {
		return err
	}
	if c != '{' {
		return fault(p.at(), "found %s where the queues of a key should begin", show(c))
	}
	if err := p.object(p.queue, nil); err != nil {
		return err
	}
	p.sink.end()
	return nil
}

func (p *parser) queue(at Position) error {
	id, err := parseInteger(p.text, "queue id", 32, at)
	if err != nil {
		return err
	}
	if p.twin(int32(id)) {
		return fault(at, "queue %d occurs twice in one key", id)
	}
	n, err := p.integer("offset", 64)
	if err != nil {
		return err
	}
	p.sink.queue(int32(id), n, at)
	return nil
}

// twin notes the queue and tells whether the entry had it before.
func (p *parser) twin(id int32) bool {
	if p.set == nil && len(p.ids) < many {
		if slices.Contains(p.ids, id) {
			return true
		}
		p.ids = append(p.ids, id)
		return false
	}
	if p.set == nil {
		p.set = make(map[int32]struct{}, 2*many)
		for _, i := range p.ids {
			p.set[i] = struct{}{}
		}
	}
	_, twice := p.set[id]
	p.set[id] = struct{}{}
	return twice
}

// single reads the value of a key of lmqOffsetTable, the offset of queue 0.
func (p *parser) single(at Position) error {
	if err := p.begin(at, true); err != nil {
		return err
	}
	n, err := p.integer("offset", 64)
	if err != nil {
		return err
	}
	p.sink.queue(0, n, at)
	p.sink.end()
	return nil
}

// banner is what RocketMQ's RocksDB tool prints before the JSON.
const banner = "Use ["

// prologue consumes a byte order mark and the banner of RocketMQ's RocksDB
// tool, if they are there, and refuses what cannot be a JSON file of offsets.
func (s *scanner) prologue() (notes []string, err error) {
	b, err := s.ahead(3)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.Equal(b, []byte("\xef\xbb\xbf")):
		s.pos += 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return nil, fault(s.at(), "the file is UTF-16; save it as UTF-8")
	}
	if b, err = s.ahead(len(banner)); err != nil {
		return nil, err
	}
	if string(b) == banner {
		line, err := s.line1()
		if err != nil {
			return nil, err
		}
		notes = append(notes, fmt.Sprintf("skipped line 1, the banner of RocketMQ's RocksDB tool: %q", line))
	}
	return notes, s.opening()
}

// line1 consumes the rest of a line, of at most MaxString bytes.
func (s *scanner) line1() (string, error) {
	b, err := s.ahead(MaxString)
	if err != nil {
		return "", err
	}
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return "", fault(s.at(), "found %q where '{' should be", clip(b))
	}
	line := string(bytes.TrimRight(b[:n], "\r "))
	s.pos += n + 1
	s.newline()
	return line, nil
}

// opening checks that an object begins.
func (s *scanner) opening() error {
	if err := s.space(); err != nil {
		return err
	}
	b, err := s.ahead(80)
	if err != nil {
		return err
	}
	switch {
	case len(b) == 0 && s.at().Byte == 0:
		return fault(s.at(), "the file is empty (0 bytes); a broker that holds no offsets writes an empty offsetTable. Look for its .bak")
	case len(b) == 0:
		return fault(s.at(), "the file ends where '{' should be")
	case b[0] == '{':
		return nil
	case bytes.HasPrefix(b, []byte("TIDEBACK")):
		return fault(s.at(), "this is a backup of a cluster, which `tidemark cluster restore` takes")
	case bytes.HasPrefix(b, []byte("type: ")):
		return fault(s.at(), "this is the plain text of RocketMQ's RocksDB tool, not JSON; export again with --jsonEnable true")
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return fault(s.at(), "not JSON: first byte 0x%02x, in %q; a file of consumer offsets begins with '{'", b[0], clip(bytes.TrimRight(line, "\r")))
}

// countingReader counts the bytes it passes on.
type countingReader struct {
	r io.Reader
	n int64
}

// Read reads from the reader under it.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
