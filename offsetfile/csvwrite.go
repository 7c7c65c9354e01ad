package offsetfile

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// WriteCSV writes targets, of any number of brokers, as CSV with a head line.
func WriteCSV(w io.Writer, targets iter.Seq[offset.Target]) error {
	return writeRows(w, csvHead+"\n", targets, func(b []byte, t *offset.Target) ([]byte, error) { return appendRow(b, t), nil })
}

// WriteKafka writes targets as lines that kafka-consumer-groups.sh reads with
// --reset-offsets --from-file: group, topic, partition and offset, for any
// number of groups. Kafka has no brokers in its keys: all targets are of one
// broker name, which is not written.
func WriteKafka(w io.Writer, targets iter.Seq[offset.Target]) error {
	broker, has := "", false
	return writeRows(w, "", targets, func(b []byte, t *offset.Target) ([]byte, error) {
		if has && t.Key.Broker != broker {
			return nil, offset.Errorf(offset.ErrInvalid, "Kafka's CSV names no brokers, and these offsets are of %q and %q; name one broker (--broker), or write CSV", broker, t.Key.Broker)
		}
		broker, has = t.Key.Broker, true
		b = append(append(b, csvField(t.Key.Group)...), ',')
		b = append(append(b, csvField(t.Key.Topic)...), ',')
		return fmt.Appendf(b, "%d,%d\n", t.Key.QueueID, t.Offset), nil
	})
}

// writeRows writes head, and a line for each target.
func writeRows(w io.Writer, head string, targets iter.Seq[offset.Target], row func([]byte, *offset.Target) ([]byte, error)) error {
	b := bufio.NewWriter(w)
	_, _ = b.WriteString(head) // the first error comes back from Flush
	var line []byte
	for t := range targets {
		var err error
		if line, err = row(line[:0], &t); err != nil {
			return err
		}
		_, _ = b.Write(line)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the offset file: %w", err)
	}
	return nil
}

// csvField quotes a name where it needs it. A name that begins with '#' would
// be taken for a comment by other programs, and in a native file by ours.
func csvField(s string) string {
	if strings.ContainsAny(s, ",\"\r\n") || strings.TrimSpace(s) != s || strings.HasPrefix(s, "#") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
