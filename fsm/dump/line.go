package dump

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// lines writes one JSON object a line. After its first error it writes nothing.
type lines struct {
	w   *bufio.Writer
	enc *json.Encoder
	err error
}

func newLines(w io.Writer) *lines {
	l := &lines{w: bufio.NewWriterSize(w, 64<<10)}
	l.enc = json.NewEncoder(l.w)
	l.enc.SetEscapeHTML(false)
	return l
}

func (l *lines) put(v any) {
	if l.err == nil {
		l.err = l.enc.Encode(v)
	}
}

// close writes out what is left; err, if not nil, is what ended the reading.
func (l *lines) close(err error) error {
	if l.err == nil {
		l.err = l.w.Flush()
	}
	if err == nil {
		err = l.err
	}
	return err
}

// number is a number of 64 bits, in JSON a string.
type number uint64

// MarshalJSON quotes it.
func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(n), 10)), nil
}

// keyName is a key in JSON.
type keyName struct {
	Group  string `json:"group"`
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
}

func nameOf(k *offset.Key) keyName {
	return keyName{k.Group, k.Topic, k.Broker, k.QueueID}
}

// clock prints Unix milliseconds; 0, which is no time, as nothing.
func clock(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
