package peer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// kind is what a connection is for.
type kind uint8

const (
	// kindRaft carries raft's own calls, in raft's own encoding.
	kindRaft kind = 1
	// kindCall carries the PeerService, between members of one cluster.
	kindCall kind = 2
	// kindMeet carries Hello and Found alone, between any two nodes.
	kindMeet kind = 3
)

const (
	magic = "tdmkpeer"
	// version is that of the handshake, not of what follows.
	version = 1
	// headBytes is the length of the fixed part of both messages, sumBytes
	// that of the checksum after each.
	headBytes = 48
	sumBytes  = 4
	// maxReason is the longest reason of a refusal, in bytes.
	maxReason = 512
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// greeting is what the side that dials says first.
type greeting struct {
	kind kind
	// maxLevel is the highest format level that the caller reads, level the
	// one that its cluster uses, 0 while it does not know.
	maxLevel, level uint8
	cluster         offset.ClusterID
	run             RunID
	id              string
	// target is the id meant to be reached, empty for kindMeet.
	target string
}

// answer is what the side that accepts says to a greeting.
type answer struct {
	// code is CodeOK, or why the connection is refused.
	code            offset.Code
	maxLevel, level uint8
	cluster         offset.ClusterID
	run             RunID
	id              string
	// reason is for people; empty where code is CodeOK.
	reason string
}

// errVersion is a greeting in another version of the handshake.
var errVersion = errors.New("another version of the handshake")

// head is the fixed part, as both messages have it:
//
//	0  8  magic
//	8  1  version
//	9  1  greeting: kind; answer: code
//	10 1  highest level that the sender reads
//	11 1  level that the sender's cluster uses, 0 while not known
//	12 16 cluster
//	28 16 run
//	44 2  length of the first text (big endian)
//	46 2  length of the second
type head struct {
	what, maxLevel, level uint8
	cluster               offset.ClusterID
	run                   RunID
}

func appendMessage(b []byte, h head, first, second string) []byte {
	at := len(b)
	b = append(b, magic...)
	b = append(b, version, h.what, h.maxLevel, h.level)
	b = append(b, h.cluster[:]...)
	b = append(b, h.run[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(first)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(second)))
	b = append(append(b, first...), second...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
}

// readMessage reads exactly one message; texts longer than the bounds are not read.
func readMessage(r io.Reader, firstMost, secondMost int) (h head, first, second string, err error) {
	var fixed [headBytes]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return h, "", "", fmt.Errorf("reading the handshake: %w", err)
	}
	if !bytes.Equal(fixed[:8], []byte(magic)) {
		return h, "", "", errors.New("this is not the handshake of a member")
	}
	h.what, h.maxLevel, h.level = fixed[9], fixed[10], fixed[11]
	h.cluster, h.run = offset.ClusterID(fixed[12:28]), RunID(fixed[28:44])
	if fixed[8] != version {
		return h, "", "", fmt.Errorf("%w: %d, here it is %d", errVersion, fixed[8], version)
	}
	a, b := int(binary.BigEndian.Uint16(fixed[44:])), int(binary.BigEndian.Uint16(fixed[46:]))
	if a > firstMost || b > secondMost {
		return h, "", "", fmt.Errorf("texts of %d and %d bytes in the handshake; at most %d and %d are allowed", a, b, firstMost, secondMost)
	}
	rest := make([]byte, a+b+sumBytes)
	if _, err := io.ReadFull(r, rest); err != nil {
		return h, "", "", fmt.Errorf("reading the handshake: %w", err)
	}
	text, sum := rest[:a+b], binary.BigEndian.Uint32(rest[a+b:])
	if crc32.Update(crc32.Checksum(fixed[:], castagnoli), castagnoli, text) != sum {
		return h, "", "", errors.New("the checksum of the handshake is wrong")
	}
	return h, string(text[:a]), string(text[a:]), nil
}

func (g greeting) append(b []byte) []byte {
	return appendMessage(b, head{what: uint8(g.kind), maxLevel: g.maxLevel, level: g.level, cluster: g.cluster, run: g.run}, g.id, g.target)
}

// readGreeting reads and bounds a greeting. It says nothing about whether it
// is welcome. errors.Is recognizes errVersion.
func readGreeting(r io.Reader) (greeting, error) {
	h, id, target, err := readMessage(r, wire.MaxMemberID, wire.MaxMemberID)
	if err != nil {
		return greeting{}, err
	}
	g := greeting{kind: kind(h.what), maxLevel: h.maxLevel, level: h.level, cluster: h.cluster, run: h.run, id: id, target: target}
	if g.kind < kindRaft || g.kind > kindMeet {
		return greeting{}, fmt.Errorf("connections of kind %d are unknown", h.what)
	}
	if g.id == "" || g.run.IsZero() {
		return greeting{}, errors.New("the other side does not say who it is")
	}
	for _, s := range []string{id, target} {
		if err := wire.CheckMemberID("member id", s); err != nil {
			return greeting{}, err
		}
	}
	return g, nil
}

func (a answer) append(b []byte) []byte {
	reason := a.reason
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	h := head{what: uint8(a.code), maxLevel: a.maxLevel, level: a.level, cluster: a.cluster, run: a.run}
	return appendMessage(b, h, a.id, reason)
}

func readAnswer(r io.Reader) (answer, error) {
	h, id, reason, err := readMessage(r, wire.MaxMemberID, maxReason)
	if err != nil {
		return answer{}, err
	}
	if err := wire.CheckMemberID("member id", id); err != nil {
		return answer{}, err
	}
	return answer{
		code: offset.Code(h.what), maxLevel: h.maxLevel, level: h.level,
		cluster: h.cluster, run: h.run, id: id, reason: reason,
	}, nil
}

// refusal makes an error of an answer that is not CodeOK; its text is data
// from the network, so it is quoted.
func (a answer) refusal(addr string) error {
	sentinel := a.code.Err()
	if offset.OutcomeOf(sentinel) != offset.NotDone {
		sentinel = offset.ErrDenied // nothing was sent, whatever it says
	}
	return offset.Errorf(sentinel, "the member at %s refuses the connection: %q", addr, a.reason)
}
