package offsetfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
)

// errTold ends a look at the head of a file once it has told what it is.
var errTold = errors.New("told")

// queueText is how a queue begins that is a string: an object with one of the
// members of a queue. Keys of a broker's file are names.
var queueText = regexp.MustCompile(`^\s*\{\s*"(topic|brokerName|queueId)"`)

// localHead tells whether head begins the file of a broadcasting consumer: the
// first key of its offsetTable, wherever among the members that stands, is an
// object, or a string that holds one.
func localHead(head []byte) (local bool) {
	s := &scanner{buf: bytes.Clone(head), end: len(head), err: io.EOF, line: 1}
	// What ends it otherwise is a fault, or that the head ends: it is not told.
	_ = s.object(func(Position) error {
		if string(s.text) != offsetTable {
			return s.skip(1, nil)
		}
		return s.list('{', '}', func() error {
			switch s.buf[s.pos] {
			case '{':
				local = true
			case '"':
				local = s.str() == nil && queueText.Match(s.text)
			}
			return errTold
		})
	}, nil)
	return local
}
