package rocketmq

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/tidemark-mq/tidemark/offset"
)

// Bounds on what a peer may send. Beyond them its answer is refused before
// anything is allocated for it.
const (
	// maxHeader is the longest header, in bytes. Real ones have hundreds; an
	// error may carry a stack of Java's.
	maxHeader = 64 << 10
	// maxBody is the longest body that is held in memory, in bytes: lists of
	// brokers, a topic's queues, a configuration.
	maxBody = 16 << 20
	// MaxTable is the longest table of offsets that a broker may send, in
	// bytes. A million offsets take 15 to 30 MiB; the table is read as it comes.
	MaxTable = 256 << 20
)

// A frame, in the order of its bytes, numbers big-endian:
//
//	4  length of all that follows: 4 + header + body
//	1  how the header is written: 0 JSON, 1 binary
//	3  length of the header
//	   header
//	   body
const (
	framePrefix = 8
	typeJSON    = 0
	typeBinary  = 1
)

// appendFrame appends a request without a body; a request of ours is short.
func appendFrame(b []byte, h header) []byte {
	text := h.appendJSON(nil)
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(text)))
	b = binary.BigEndian.AppendUint32(b, typeJSON<<24|uint32(len(text)))
	return append(b, text...)
}

// readFrame reads a frame up to its body, which has the length n, at most
// most; the caller reads it. The error wraps offset.ErrDamaged if what came is
// no frame, or is what r failed with; io.EOF only if nothing came at all.
func readFrame(r io.Reader, most int64) (h header, n int64, err error) {
	var p [framePrefix]byte
	if got, err := io.ReadFull(r, p[:]); err != nil {
		if got > 0 {
			err = cutOff(err)
		}
		return h, 0, err
	}
	length := int64(int32(binary.BigEndian.Uint32(p[:4])))
	kind, size := p[4], int64(binary.BigEndian.Uint32(p[4:])&0xffffff)
	switch n = length - 4 - size; {
	case length < 4:
		return h, 0, damaged("a frame of %d bytes is announced", length)
	case size > maxHeader:
		return h, 0, damaged("a header of %d bytes is announced; %d are the most", size, maxHeader)
	case n < 0:
		return h, 0, damaged("a header of %d bytes is announced in a frame of %d", size, length)
	case n > most:
		return h, 0, damaged("a body of %d bytes is announced; %d are the most here", n, most)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, cutOff(err)
	}
	h, err = decodeHeader(kind, text)
	return h, n, err
}

func decodeHeader(kind byte, text []byte) (header, error) {
	switch kind {
	case typeJSON:
		return decodeJSON(text)
	case typeBinary:
		return decodeBinary(text)
	}
	return header{}, damaged("the header is of the kind %d; 0 and 1 are known", kind)
}

// damaged is the error for an answer that is not what it should be.
func damaged(format string, args ...any) error {
	return offset.Errorf(offset.ErrDamaged, format, args...)
}

// cutOff turns the end of a connection into an error that says where it ended.
func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the connection ended within an answer: %w", io.ErrUnexpectedEOF)
	}
	return err
}
