package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"time"
)

// request is one request of ours.
type request struct {
	code   int
	fields map[string]string
	// what names what is asked for, as in "asking for the brokers".
	what string
	// most is the longest body that the answer may have; 0 is maxBody.
	most int64
	// take reads the answer's body; what it leaves unread is dropped. nil drops it all.
	take func(h header, body io.Reader) error
}

// with gives the request with one more argument.
func (r request) with(name, value string) request {
	fields := maps.Clone(r.fields)
	if fields == nil {
		fields = map[string]string{}
	}
	fields[name] = value
	r.fields = fields
	return r
}

// body gives the request as one that reads the answer's body into b.
func (r request) body(b *[]byte) request {
	r.take = func(_ header, body io.Reader) (err error) {
		*b, err = io.ReadAll(body)
		return err
	}
	return r
}

// conn is one connection, on which one call goes on at a time.
type conn struct {
	nc   net.Conn
	in   *paced
	last int32 // the opaque of the last request
	// unusable: an answer was not read to its end, so what comes next on the
	// connection is not known.
	unusable bool
}

func newConn(nc net.Conn, silence time.Duration) *conn {
	return &conn{nc: nc, in: &paced{nc: nc, silence: silence}}
}

// maxStray is how many requests of the peer's own are passed over while an
// answer is awaited. A peer has no reason to send any: we serve nothing.
const maxStray = 64

// call sends the request and takes its answer. When ctx ends, the connection
// is closed, and the error is that of ctx. The connection is unusable after
// any error that is not a *RemoteError.
func (c *conn) call(ctx context.Context, r request) (err error) {
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { c.nc.Close(); close(closed) })
	defer func() {
		if !stop() {
			<-closed
			c.unusable = true
			err = fmt.Errorf("no answer in time: %w", context.Cause(ctx))
		}
	}()
	var refused *RemoteError
	if err = c.exchange(r); err != nil && !errors.As(err, &refused) {
		c.unusable = true
	}
	return err
}

func (c *conn) exchange(r request) error {
	c.last++
	c.in.begin()
	frame := appendFrame(nil, header{Code: r.code, Language: "GO", Version: version407, Opaque: c.last, Fields: r.fields})
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.in.silence)); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	if _, err := c.nc.Write(frame); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	most := r.most
	if most == 0 {
		most = maxBody
	}
	for range maxStray {
		h, n, err := readFrame(c.in, most)
		if err == io.EOF {
			return fmt.Errorf("the connection was closed before an answer came: %w", err)
		} else if err != nil {
			return err
		}
		body := &bodyReader{r: c.in, left: n}
		if h.answers() {
			return c.answer(r, h, body)
		}
		if err := body.drop(); err != nil {
			return err
		}
	}
	return damaged("%d requests came where an answer should", maxStray)
}

// answer takes the answer whose header was read.
func (c *conn) answer(r request, h header, body *bodyReader) error {
	if h.Opaque != c.last {
		return damaged("an answer to request %d came, where %d was asked", h.Opaque, c.last)
	}
	if h.Code != 0 {
		if err := body.drop(); err != nil {
			return err
		}
		return &RemoteError{Code: h.Code, Remark: h.Remark}
	}
	if r.take != nil {
		if err := r.take(h, body); err != nil {
			return err
		}
	}
	return body.drop()
}

// bodyReader reads the body of a frame: all of it, or an error.
type bodyReader struct {
	r    io.Reader
	left int64
}

// Read reads the next bytes; io.EOF only at the end of the body.
func (b *bodyReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.left > 0 {
		return n, cutOff(err)
	}
	return n, nil
}

// drop reads what is left.
func (b *bodyReader) drop() error {
	_, err := io.Copy(io.Discard, b)
	return err
}
