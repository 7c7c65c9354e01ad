package offsetfile

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// Format is the kind of a file. The zero value, where one is asked for, means
// that the file's first bytes tell.
type Format string

// The formats.
const (
	// JSON is RocketMQ's consumerOffset.json and its relatives.
	JSON Format = "json"
	// LocalJSON is the file of a broadcasting consumer: see Local.
	LocalJSON Format = "local"
	// CSV is lines of group, topic, broker, queue, offset, behind a line that says so.
	CSV Format = "csv"
	// Kafka is lines of group, topic, partition, offset, as
	// kafka-consumer-groups.sh exports and reads them.
	Kafka Format = "kafka"
	// KafkaGroup is lines of topic, partition, offset: what that tool exports
	// of one group.
	KafkaGroup Format = "kafka-group"
	// Native is CSV between a head and an end that carries a sum: see WriteNative.
	Native Format = "native"
)

// Formats are all of them, by name.
var Formats = []Format{JSON, LocalJSON, CSV, Kafka, KafkaGroup, Native}

// Brokerless tells that files of the format do not name brokers, so that
// Options.Broker applies.
func (f Format) Brokerless() bool { return f == JSON || f == Kafka || f == KafkaGroup }

// Groupless tells that files of the format do not name their group, so that
// they need Options.Group.
func (f Format) Groupless() bool { return f == LocalJSON || f == KafkaGroup }

// validate refuses what is no format.
func (f Format) validate() error {
	if f == "" || slices.Contains(Formats, f) {
		return nil
	}
	return offset.Errorf(offset.ErrInvalid, "the format %q is none of %v", string(f), Formats)
}

// headBytes is how much of a file is looked at to tell its format: more than
// the longest first line of CSV that is taken.
const headBytes = 16 << 10

// detect tells what a file is that begins with head. What is nothing that is
// known is JSON, whose reader says best what it found instead.
func detect(head []byte) Format {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch text := string(bytes.TrimRight(line, "\r")); {
	case strings.HasPrefix(text, nativeMagic):
		return Native
	case localHead(head):
		return LocalJSON
	case text == kafkaColumns.head:
		return Kafka
	case text == kafkaGroupColumns.head:
		return KafkaGroup
	case strings.HasPrefix(text, "group,"):
		return CSV
	default:
		return rowFormat(text)
	}
}

// rowFormat tells what a first line is that may be a row of numbers already.
func rowFormat(line string) Format {
	f, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil || len(f) < 3 || !number.MatchString(f[len(f)-1]) || !number.MatchString(f[len(f)-2]) {
		return JSON
	}
	switch len(f) {
	case 3:
		return KafkaGroup
	case 4:
		return Kafka
	}
	return CSV
}

var number = regexp.MustCompile(`^-?[0-9]+$`)

// needGroup refuses a file that does not say its group where none was given.
func needGroup(f Format, group string, at Position) error {
	if !f.Groupless() || group != "" {
		return nil
	}
	what := "the file of a broadcasting consumer"
	if f == KafkaGroup {
		what = "what kafka-consumer-groups.sh exports of one group"
	}
	return fault(at, "this is %s, which does not say its group; name the group (--group)", what)
}

// takenAs says whose offsets a file without a group is taken for.
func takenAs(f Format, group string) string {
	what := "the file of a broadcasting consumer"
	if f == KafkaGroup {
		what = "what kafka-consumer-groups.sh exports of one group"
	}
	return fmt.Sprintf("this is %s; its offsets are taken as those of group %q", what, group)
}
