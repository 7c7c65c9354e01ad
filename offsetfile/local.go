package offsetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// MaxLocalBytes is the longest file of a broadcasting consumer, in bytes:
// some 600,000 queues.
const MaxLocalBytes = 64 << 20

// Local is the content of the file in which a consumer in broadcasting mode
// keeps its offsets itself: RocketMQ's offsets.json.
type Local struct {
	// Offsets holds what the file says, as it says it: also negative numbers
	// and names that are not valid, so that writing it again loses nothing.
	Offsets map[offset.MessageQueue]int64
	// Notes are remarks for people, as in a Report.
	Notes []string
}

// ReadLocal reads such a file whole, in every shape that RocketMQ's clients
// write: keys that are objects (Java), keys that are strings holding an object
// (Go), numbers bare or as strings, one comma too many. The error is a *Fault,
// or what r failed with.
func ReadLocal(r io.Reader) (*Local, error) {
	count := &countingReader{r: r}
	return readLocal(newScanner(count), count)
}

// readLocal reads the rest of s, which reads from count.
func readLocal(s *scanner, count *countingReader) (*Local, error) {
	s.r = io.LimitReader(count, MaxLocalBytes+1-count.n)
	p := &localParser{scanner: s, out: &Local{Offsets: map[offset.MessageQueue]int64{}}}
	err := p.file()
	if count.n > MaxLocalBytes {
		err = fault(Position{Line: 1, Column: 1}, "the file is longer than %d bytes", MaxLocalBytes)
	}
	if err != nil {
		return nil, err
	}
	return p.out, nil
}

// localParser reads the members of an offsets.json.
type localParser struct {
	*scanner
	out     *Local
	members []string
}

func (p *localParser) file() error {
	if err := p.head(); err != nil {
		return err
	}
	if err := p.object(p.top, nil); err != nil {
		return err
	}
	if err := p.trailing("the object"); err != nil {
		return err
	}
	if !slices.Contains(p.members, offsetTable) {
		return fault(Position{Line: 1, Column: 1}, "no offsetTable; the members found are [%s]. This is not a consumer's file of offsets", quoteAll(p.members))
	}
	return nil
}

// head consumes a byte order mark and checks that an object begins.
func (p *localParser) head() error {
	b, err := p.ahead(3)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return fault(p.at(), "the file is empty (0 bytes)")
	}
	if string(b) == "\xef\xbb\xbf" {
		p.pos += 3
	}
	return p.opening()
}

// trailing refuses what stands behind the end of what.
func (s *scanner) trailing(what string) error {
	if err := s.space(); err != nil {
		return err
	}
	c, more, err := s.peek()
	if err != nil {
		return err
	}
	if more {
		return fault(s.at(), "found %s behind the end of %s", show(c), what)
	}
	return nil
}

func (p *localParser) top(at Position) error {
	name := string(p.text)
	if slices.Contains(p.members, name) {
		return fault(at, "%q occurs twice", clip(p.text))
	}
	if len(p.members) == MaxDepth {
		return fault(at, "more than %d members; this is not a consumer's file of offsets", MaxDepth)
	}
	p.members = append(p.members, name)
	if name == offsetTable {
		return p.list('{', '}', p.row)
	}
	p.out.Notes = append(p.out.Notes, fmt.Sprintf("ignored the member %q, which is no table of offsets", clip([]byte(name))))
	return p.skip(1, nil)
}

// row reads a queue and its offset.
func (p *localParser) row() error {
	at := p.at()
	mq, err := p.key(at)
	if err != nil {
		return err
	}
	if err := p.colon(); err != nil {
		return err
	}
	n, err := p.integer("offset", 64)
	if err != nil {
		return err
	}
	if _, twice := p.out.Offsets[mq]; twice {
		return fault(at, "queue %d of topic %q on broker %q occurs twice", mq.QueueID, clip([]byte(mq.Topic)), clip([]byte(mq.Broker)))
	}
	p.out.Offsets[mq] = n
	return nil
}

// key reads a queue: an object, or a string that holds one.
func (p *localParser) key(at Position) (offset.MessageQueue, error) {
	switch c := p.buf[p.pos]; c {
	case '{':
		return p.messageQueue(at)
	case '"':
		if err := p.str(); err != nil {
			return offset.MessageQueue{}, err
		}
	default:
		return offset.MessageQueue{}, fault(at, "found %s where a queue should be", show(c))
	}
	in := &scanner{buf: bytes.Clone(p.text), end: len(p.text), err: io.EOF, line: 1}
	mq, err := in.messageQueue(in.at())
	if err == nil {
		err = in.trailing("the queue")
	}
	var f *Fault
	if errors.As(err, &f) {
		return mq, fault(at, "the string that begins here holds no queue: %s", f.Text)
	}
	return mq, err
}

// messageQueue reads an object that names a queue. Members that RocketMQ does
// not know are passed over, as its parser does.
func (s *scanner) messageQueue(at Position) (mq offset.MessageQueue, err error) {
	var seen []string
	err = s.object(func(at Position) error {
		name := string(s.text)
		if slices.Contains(seen, name) {
			return fault(at, "%q occurs twice in one queue", clip(s.text))
		}
		if len(seen) == MaxDepth {
			return fault(at, "more than %d members in one queue", MaxDepth)
		}
		seen = append(seen, name)
		switch name {
		case "topic":
			return s.name(&mq.Topic)
		case "brokerName":
			return s.name(&mq.Broker)
		case "queueId":
			n, err := s.integer(name, 32)
			mq.QueueID = int32(n)
			return err
		}
		return s.skip(2, nil)
	}, nil)
	if err == nil && (!slices.Contains(seen, "topic") || !slices.Contains(seen, "queueId")) {
		err = fault(at, "a queue without topic or queueId")
	}
	return mq, err
}

// name reads a name; null is the empty one.
func (s *scanner) name(to *string) error {
	c, err := s.next("a name")
	if err != nil {
		return err
	}
	at := s.at()
	if c == '"' {
		err = s.str()
		*to = string(s.text)
		return err
	}
	if sticks(c) {
		if err := s.number(); err != nil {
			return err
		}
		if string(s.text) == "null" {
			return nil
		}
	}
	return fault(at, "found %s where a name should be", show(c))
}
