// Package remoting is a connection that speaks RocketMQ's remoting protocol
// frame by frame, for tests that need what clients do not do: requests sent
// one behind the other without waiting, in either form of header, and answers
// as they are. It trusts its peer as far as a test does.
package remoting

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// mostFrame is the largest answer that is read.
const mostFrame = 64 << 20

// Timeout is how long one answer may take.
const Timeout = 20 * time.Second

// Conn is one connection. It is of one goroutine, but for this: one may send
// while another receives.
type Conn struct {
	// Form is how headers are written from now on.
	Form Form

	c    net.Conn
	in   *bufio.Reader
	out  []byte
	last int // the newest opaque
}

// Dial connects.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	c, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{c: c, in: bufio.NewReaderSize(c, 1<<16)}, nil
}

// Close closes it.
func (c *Conn) Close() { _ = c.c.Close() } // nothing is kept that could be lost

// Queue takes a request along with the next Flush, and gives its opaque.
func (c *Conn) Queue(code int, ext map[string]string, body []byte) (int, error) {
	return c.queue(code, 0, ext, body)
}

// QueueOneWay does the same with a request that is not answered.
func (c *Conn) QueueOneWay(code int, ext map[string]string, body []byte) error {
	_, err := c.queue(code, flagOneWay, ext, body)
	return err
}

func (c *Conn) queue(code, flag int, ext map[string]string, body []byte) (_ int, err error) {
	c.last++
	f := Frame{Code: code, Opaque: c.last, Flag: flag, Ext: ext, Body: body}
	c.out, err = f.append(c.out, c.Form)
	return c.last, err
}

// Flush writes what was queued, in one go.
func (c *Conn) Flush() error {
	_, err := c.c.Write(c.out)
	c.out = c.out[:0]
	return err
}

// Receive gives the next answer; requests of the peer's own are passed over.
func (c *Conn) Receive() (*Frame, error) {
	for {
		f, err := c.receive()
		if err != nil || f.Answer() {
			return f, err
		}
	}
}

func (c *Conn) receive() (*Frame, error) {
	if err := c.c.SetReadDeadline(time.Now().Add(Timeout)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c.in, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > mostFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(c.in, frame); err != nil {
		return nil, err
	}
	return decode(frame)
}

// Call sends one request and gives its answer, whatever its code. Answers to
// what was queued before are passed over.
func (c *Conn) Call(code int, ext map[string]string, body []byte) (*Frame, error) {
	opaque, err := c.Queue(code, ext, body)
	if err == nil {
		err = c.Flush()
	}
	for err == nil {
		var f *Frame
		if f, err = c.Receive(); err == nil && f.Opaque == opaque {
			return f, nil
		}
	}
	return nil, fmt.Errorf("code %d: %w", code, err)
}

// Call makes one call on a connection of its own, and gives the body of an
// answer whose code is 0.
func Call(ctx context.Context, addr string, code int, ext map[string]string, body []byte) ([]byte, error) {
	c, err := Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	f, err := c.Call(code, ext, body)
	if err == nil && f.Code != 0 {
		err = fmt.Errorf("code %d was answered by %d: %s", code, f.Code, f.Remark)
	}
	if err != nil {
		return nil, err
	}
	return f.Body, nil
}
