package bareraft

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A request is its length (4 bytes), an id (8), an op (1) and a body; a reply
// an id (8), a status (1) and an offset (8). Numbers are little endian.

// op is what a request asks for.
type op byte

const (
	// opPut's body is pairs; its reply has no offset.
	opPut op = iota
	// opGet's body is a key; its reply has the offset.
	opGet
	// opLeads has no body; its status tells whether this node leads.
	opLeads
)

// status is what became of a request.
type status byte

const (
	statusOK status = iota
	statusNotLeader
	statusFailed
	statusAbsent
)

// mostFrame bounds a request.
const mostFrame = 4 << 20

// request is one that came, with who waits for it.
type request struct {
	id   uint64
	op   op
	body []byte
	from *session
}

// reply is what goes back.
type reply struct {
	id     uint64
	status status
	offset uint64
}

// AppendPair appends one key with its offset to the body of a put.
func AppendPair(body []byte, key string, offset uint64) []byte {
	body = binary.LittleEndian.AppendUint16(body, uint16(len(key)))
	body = append(body, key...)
	return binary.LittleEndian.AppendUint64(body, offset)
}

var errBody = errors.New("a body that is cut short")

// eachPair calls do for the pairs of a body.
func eachPair(body []byte, do func(key []byte, offset uint64)) error {
	for len(body) > 0 {
		if len(body) < 2 {
			return errBody
		}
		n := int(binary.LittleEndian.Uint16(body))
		if body = body[2:]; len(body) < n+8 {
			return errBody
		}
		do(body[:n], binary.LittleEndian.Uint64(body[n:]))
		body = body[n+8:]
	}
	return nil
}

func appendRequest(b []byte, id uint64, what op, body []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(9+len(body)))
	b = binary.LittleEndian.AppendUint64(b, id)
	b = append(b, byte(what))
	return append(b, body...)
}

func readRequest(r *bufio.Reader) (q request, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return q, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 9 || n > mostFrame {
		return q, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(r, frame); err != nil {
		return q, err
	}
	return request{id: binary.LittleEndian.Uint64(frame), op: op(frame[8]), body: frame[9:]}, nil
}

// replyBytes is how long a reply is.
const replyBytes = 17

func appendReply(b []byte, r reply) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.id)
	b = append(b, byte(r.status))
	return binary.LittleEndian.AppendUint64(b, r.offset)
}

func readReply(r io.Reader) (reply, error) {
	var b [replyBytes]byte
	_, err := io.ReadFull(r, b[:])
	return reply{binary.LittleEndian.Uint64(b[:]), status(b[8]), binary.LittleEndian.Uint64(b[9:])}, err
}
