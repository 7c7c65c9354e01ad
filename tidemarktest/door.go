package tidemarktest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// maxConns is how many connections to one node may be open; further ones are reset.
const maxConns = 4096

// door is where clients reach a node: an address on the loopback interface,
// beyond which the cluster's network in memory begins. So a fault of that
// network is felt by every program that was given the address. The address
// belongs to the door from open to close, also while nobody listens.
type door struct {
	host *memnet.Host // whom the node takes clients for
	to   string       // the node's address in memory
	addr string       // host:port on the loopback interface
	held int          // a socket that is bound to addr, and does not listen

	ctx    context.Context // done once the door is closed
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu       sync.Mutex // guards what follows
	listener net.Listener
	pairs    map[*pair]struct{}
}

// pair is a connection of a client: its outer half, and once it is made the
// inner one, which the node sees.
type pair struct {
	outer *net.TCPConn
	inner net.Conn // nil until made; guarded by the door's mu
}

// newDoor takes an address, at which connections are refused until listen.
func newDoor(host *memnet.Host, to string) (*door, error) {
	held, addr, err := holdPort()
	if err != nil {
		return nil, err
	}
	d := &door{host: host, to: to, addr: addr, held: held, pairs: make(map[*pair]struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d, nil
}

// holdPort binds a socket to a free port, which is nobody else's from then on:
// the system gives it out for no other purpose, and refuses connections to it
// as long as no further socket that shares it listens.
func holdPort() (held int, addr string, err error) {
	l, err := sharing.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return -1, "", err
	}
	defer l.Close() // the port is held before it is let go
	at := l.Addr().(*net.TCPAddr)
	held, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, "", err
	}
	unix.CloseOnExec(held)
	err = unix.SetsockoptInt(held, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if err == nil {
		err = unix.Bind(held, &unix.SockaddrInet4{Port: at.Port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		unix.Close(held)
		return -1, "", err
	}
	return held, at.String(), nil
}

// sharing listens at a port that is held already.
var sharing = net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	return errors.Join(failed, err)
}}

// listen lets clients in.
func (d *door) listen() error {
	l, err := sharing.Listen(d.ctx, "tcp4", d.addr)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listener = l
	d.all.Go(func() { d.accept(l) })
	return nil
}

// refuse resets all connections, and has new ones refused until listen.
func (d *door) refuse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != nil {
		d.listener.Close()
		d.listener = nil
	}
	for p := range d.pairs {
		p.abortLocked()
	}
}

// close is refuse for good; it frees the address and waits for all goroutines.
func (d *door) close() {
	d.cancel()
	d.refuse()
	d.all.Wait()
	unix.Close(d.held)
}

func (d *door) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no file is left for it, say
			select {
			case <-time.After(10 * time.Millisecond):
			case <-d.ctx.Done():
				return
			}
			continue
		}
		p := &pair{outer: c.(*net.TCPConn)}
		if d.admit(l, p) {
			d.all.Go(func() { d.carry(p) })
		}
	}
}

// admit notes a connection, or resets it: too many are open, or it came
// through a listener that was closed meanwhile.
func (d *door) admit(l net.Listener, p *pair) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != l || len(d.pairs) >= maxConns {
		p.abortLocked()
		return false
	}
	d.pairs[p] = struct{}{}
	return true
}

// carry makes the inner half of a connection and carries bytes until it ends.
func (d *door) carry(p *pair) {
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		p.abortLocked()
		delete(d.pairs, p)
	}()
	inner, err := d.host.Dial(d.ctx, d.to)
	if err != nil {
		return
	}
	d.mu.Lock()
	p.inner = inner
	d.mu.Unlock()
	up := make(chan struct{})
	go func() { // carry waits for it
		defer close(up)
		io.Copy(inner, p.outer)
		inner.Close() // after what was sent
	}()
	if _, err := io.Copy(p.outer, inner); err == nil {
		p.outer.Close() // likewise; after an error it is reset
	}
	d.mu.Lock()
	p.abortLocked()
	d.mu.Unlock()
	<-up
}

// abortLocked resets a connection on both sides. The door's lock is held.
func (p *pair) abortLocked() {
	p.outer.SetLinger(0) // a reset instead of an orderly end; without effect on one that is closed
	p.outer.Close()
	if p.inner != nil {
		p.inner.Close()
	}
}

// breakOff resets the connection that the node sees come from an address.
func (d *door) breakOff(from string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.pairs {
		if p.inner != nil && p.inner.LocalAddr().String() == from {
			p.abortLocked()
		}
	}
}
