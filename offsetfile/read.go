package offsetfile

import (
	"fmt"
	"io"

	"github.com/tidemark-mq/tidemark/offset"
)

// Options say how a file is read. The zero value reads with the default rules.
type Options struct {
	// Format is what the file is; empty: its first bytes tell.
	Format Format
	// Broker is the broker name that keys get where the format does not name
	// brokers (Format.Brokerless). With others it is not used.
	Broker string
	// Group is the group that the offsets get where the format does not name it
	// (Format.Groupless): without, such a file is refused. With others it is
	// not used.
	Group string
	// StrictNames also skips names that RocketMQ's own validators refuse.
	StrictNames bool
}

func (o *Options) validate() error {
	if err := o.Format.validate(); err != nil {
		return err
	}
	if err := offset.ValidateName("broker", o.Broker, true); err != nil {
		return err
	}
	return offset.ValidateName("group", o.Group, true)
}

// Read reads a whole file; what it is shows its first bytes, unless o says it.
// The error is a *Fault, which wraps offset.ErrInvalid and names the place, or
// what r failed with.
func Read(r io.Reader, o Options) (*File, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	count := &countingReader{r: r}
	s := newScanner(count)
	if o.Format == "" {
		head, err := s.ahead(headBytes)
		if err != nil {
			return nil, err
		}
		o.Format = detect(head)
	}
	f, err := readAs(s, o, count)
	if err != nil {
		return nil, err
	}
	f.Report.Bytes = count.n
	return f, nil
}

// readAs reads the rest of s, which reads from count, as o.Format.
func readAs(s *scanner, o Options, count *countingReader) (*File, error) {
	switch o.Format {
	case LocalJSON:
		return readLocalAs(s, o, count)
	case CSV:
		return readCSV(s, o, ourColumns)
	case Kafka:
		return readCSV(s, o, kafkaColumns)
	case KafkaGroup:
		return readCSV(s, o, kafkaGroupColumns)
	case Native:
		return readNative(s, o)
	}
	return readJSON(s, o)
}

func readJSON(s *scanner, o Options) (*File, error) {
	notes, err := s.prologue()
	if err != nil {
		return nil, err
	}
	b := newBuilder(o, JSON)
	p := newParser(s, b)
	if err := p.file(); err != nil {
		return nil, err
	}
	f := b.done()
	f.Report.DataVersion = p.version
	f.Report.Notes = append(notes, p.notes...)
	if b.lmq > 0 {
		f.Report.Notes = append(f.Report.Notes, fmt.Sprintf("%d of the keys come from lmqOffsetTable", b.lmq))
	}
	return f, nil
}
