package frames

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// End is the flag of the last frame.
const End = 0x02

const (
	// prefix is how many bytes precede a message.
	prefix = 5
	// buffer is how much is read at once, and how much memory of a message is kept
	// for the next.
	buffer = 64 << 10
)

// framed is a connection that carries frames. One goroutine receives and one
// sends; the rest may be called from any.
type framed struct {
	nc net.Conn
	r  *bufio.Reader
	// limit bounds a message, in bytes; patience how long one that has begun may
	// take to arrive, 0 for ever.
	limit    int
	patience time.Duration
	// Begun is called where a message has begun to arrive and is not here whole.
	// Arriving is told how many bytes of a message are read next, up to 64 KiB, and
	// Arrived gets each message before it is decoded; an error is what the receiver
	// returns. If it wraps offset.ErrBusy the message is read to its end first, and of
	// its calls, up to Calls, the ids. They are set before the first message, or nil.
	Begun    func()
	Arriving func(bytes int) error
	Arrived  func(message []byte) error
	Calls    int

	in  bytes.Buffer
	out []byte
	// torn: a write failed, maybe in the middle of a frame. The sender's.
	torn bool

	mu          sync.Mutex // guards the read deadline
	interrupted bool
}

// receive reads the next message into m. The error is io.EOF for a regular end,
// what the other side ended with, or wraps offset.ErrInvalid for what is not a
// message; any other says that the connection broke.
func (f *framed) receive(m proto.Message) error {
	flags, n, err := f.begin()
	if err != nil {
		return err
	}
	if f.patience > 0 && f.r.Buffered() < n {
		f.expect(time.Now().Add(f.patience))
		defer f.expect(time.Time{})
		if f.Begun != nil {
			f.Begun()
		}
	}
	defer f.forget()
	left, err := f.body(n)
	if err == nil && flags == 0 && f.Arrived != nil {
		err = f.Arrived(f.in.Bytes())
	}
	if errors.Is(err, offset.ErrBusy) {
		if broke := f.skim(m, left); broke != nil {
			return broke
		}
	}
	if err != nil {
		return err
	}
	switch flags {
	case 0:
	case End:
		return f.ended()
	default:
		return offset.Errorf(offset.ErrInvalid, "a frame of the stream has the flags %#x, which are not known", flags)
	}
	if err := proto.Unmarshal(f.in.Bytes(), m); err != nil {
		return offset.Errorf(offset.ErrInvalid, "a message of the stream cannot be read: %v", err)
	}
	return nil
}

// begin reads the prefix of a message.
func (f *framed) begin() (flags byte, n int, err error) {
	var head [prefix]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, 0, broken(err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	if int64(size) > int64(f.limit) {
		return 0, 0, offset.Errorf(offset.ErrInvalid, "a message of the stream is too large; at most %d bytes are taken, so split it", f.limit)
	}
	return head[0], int(size), nil
}

// body reads n bytes, which take memory as they arrive, not as they are announced.
// left are those that Arriving did not let come.
func (f *framed) body(n int) (left int, err error) {
	f.in.Reset()
	for n > 0 {
		piece := min(n, buffer)
		if f.Arriving != nil {
			if err := f.Arriving(piece); err != nil {
				return n, err
			}
		}
		if _, err := io.CopyN(&f.in, f.r, int64(piece)); err != nil {
			return 0, broken(err)
		}
		n -= piece
	}
	return 0, nil
}

// forget keeps no more memory of a message that was read than a small one takes.
func (f *framed) forget() {
	if f.in.Cap() > buffer {
		f.in = bytes.Buffer{}
	}
}

// ended reads what the other side ended with.
func (f *framed) ended() error {
	e := new(tidemarkv1.Error)
	if err := proto.Unmarshal(f.in.Bytes(), e); err != nil {
		return offset.Errorf(offset.ErrInvalid, "the end of the stream cannot be read: %v", err)
	}
	if e.GetCode() == 0 {
		return io.EOF
	}
	return wire.FromError(e)
}

// broken makes an end within a frame, or without the last one, an error.
func broken(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// expect sets the read deadline, unless Interrupt has.
func (f *framed) expect(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.interrupted {
		_ = f.nc.SetReadDeadline(at) // a connection that fails says so when it is read
	}
}

// send writes one frame.
func (f *framed) send(flags byte, m proto.Message) (err error) {
	f.out, err = proto.MarshalOptions{}.MarshalAppend(append(f.out[:0], flags, 0, 0, 0, 0), m)
	if err != nil {
		return fmt.Errorf("encoding a message of the stream: %w", err)
	}
	binary.BigEndian.PutUint32(f.out[1:], uint32(len(f.out)-prefix))
	_, err = f.nc.Write(f.out)
	f.torn = f.torn || err != nil
	if cap(f.out) > buffer {
		f.out = nil
	}
	return err
}

// Interrupt ends a receive that is under way, and every later one.
func (f *framed) Interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interrupted = true
	_ = f.nc.SetReadDeadline(longAgo)
}

// CutOff ends a send that is under way, and every later one.
func (f *framed) CutOff() { _ = f.nc.SetWriteDeadline(longAgo) }

// Close closes the connection; what is under way ends.
func (f *framed) Close() error { return f.nc.Close() }

var longAgo = time.Unix(1, 0)
