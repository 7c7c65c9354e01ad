package rocketmq

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// peer is a server that does what a test says.
type peer struct {
	addr string
	// conns counts the connections that were accepted.
	conns atomic.Int64

	listener net.Listener
	mu       sync.Mutex
	open     map[net.Conn]struct{}
	wg       sync.WaitGroup
}

// startPeer serves each connection by serve, one goroutine each, until the test ends.
func startPeer(t *testing.T, serve func(net.Conn)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{addr: l.Addr().String(), listener: l, open: map[net.Conn]struct{}{}}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.conns.Add(1)
			p.serve(c, serve)
		}
	})
	t.Cleanup(p.stop)
	return p
}

func (p *peer) serve(c net.Conn, serve func(net.Conn)) {
	p.mu.Lock()
	p.open[c] = struct{}{}
	p.mu.Unlock()
	p.wg.Go(func() {
		defer c.Close()
		serve(c)
	})
}

// hangUp closes the connections there are.
func (p *peer) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

func (p *peer) stop() {
	p.listener.Close()
	p.hangUp()
	p.wg.Wait()
}

// answers gives the code, the fields and the body that answer a request.
type answers func(h header) (code int, fields map[string]string, body string)

// startAnswering serves by answers, as a broker 5.5.0 does.
func startAnswering(t *testing.T, a answers) *peer {
	t.Helper()
	return startVersion(t, 513, a)
}

// startVersion serves by answers, as a broker of that version does.
func startVersion(t *testing.T, version int, a answers) *peer {
	t.Helper()
	return startPeer(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			h, err := nextRequest(in)
			if err != nil {
				return
			}
			code, fields, body := a(h)
			c.Write(frameOf(header{Code: code, Opaque: h.Opaque, Flag: flagResponse, Version: version, Fields: fields}, body))
		}
	})
}

// nobody is an address that nobody listens at.
const nobody = "127.0.0.1:1"

// startRaw answers the first request of each connection with raw bytes, made
// of its opaque, and closes the connection when the client has.
func startRaw(t *testing.T, raw func(opaque int32) []byte) *peer {
	t.Helper()
	return startPeer(t, func(c net.Conn) {
		h, err := nextRequest(c)
		if err != nil {
			return
		}
		c.Write(raw(h.Opaque))
		io.Copy(io.Discard, c)
	})
}

// nextRequest reads a request of ours strictly.
func nextRequest(r io.Reader) (header, error) {
	h, n, err := readFrame(r, 0)
	if err == nil && (h.Flag != 0 || h.Opaque <= 0 || n != 0 || h.Version != version407) {
		err = errors.New("this is no request of ours")
	}
	return h, err
}

// frameOf writes a frame as a peer does.
func frameOf(h header, body string) []byte {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(text)+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
	return append(append(b, text...), body...)
}

// newTestClient gives a Client of one broker "bk" at addr, without asking it who it is.
func newTestClient(t *testing.T, addr string, options ...Option) *Client {
	t.Helper()
	p := newPool((&net.Dialer{}).DialContext, DefaultTimeout)
	for _, o := range options {
		o(p)
	}
	c := &Client{pool: p, addr: addr, self: &Broker{Name: "bk", Addr: addr}}
	t.Cleanup(func() { c.Close() })
	return c
}
