package rocketmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Client asks the brokers that one address leads to: a broker itself, or those
// that a name server knows. Many goroutines may use it at once. Its calls
// return by the end of their context; all of them may be repeated after any
// error. An error wraps offset.ErrUnreachable where no connection could be
// made, offset.ErrDamaged where the peer does not keep to the protocol, a
// *RemoteError where the peer answered with one, and offset.ErrClosed behind Close.
type Client struct {
	pool *pool
	addr string
	// self is the broker at addr; nil if a name server is there.
	self *Broker

	mu sync.Mutex
	// masters are those that the name server named last, by name, at the time
	// read; nil before.
	masters map[string]Broker
	read    time.Time
}

// Option changes how a Client connects.
type Option func(*pool)

// WithTimeout bounds how long a peer may take for a connection and for the
// first byte of an answer, and for each further 64 KiB of one; DefaultTimeout
// if d is 0 or less. The context of a call bounds it as a whole.
func WithTimeout(d time.Duration) Option {
	return func(p *pool) {
		if d > 0 {
			p.timeout = d
		}
	}
}

// WithDialer makes connections by dial instead of a net.Dialer; nil changes
// nothing. For networks of other kinds, TLS among them.
func WithDialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return func(p *pool) {
		if dial != nil {
			p.dial = dial
		}
	}
}

// Broker is one process of a broker.
type Broker struct {
	// Name is the broker's name, which its slaves share.
	Name string `json:"name"`
	// Cluster is the RocketMQ cluster that it says it belongs to.
	Cluster string `json:"cluster"`
	// Addr is its address, host:port.
	Addr string `json:"addr"`
	// ID is 0 for a master, and another number for a slave.
	ID int64 `json:"id,string"`
}

// Open finds out what answers at addr (host:port), a broker or a name server,
// and gives a client of it. Close it.
func Open(ctx context.Context, addr string, options ...Option) (*Client, error) {
	if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
		return nil, offset.Errorf(offset.ErrInvalid, "%q is no address of a broker or name server; host:port is needed", addr)
	}
	p := newPool((&net.Dialer{}).DialContext, DefaultTimeout)
	for _, o := range options {
		if o != nil {
			o(p)
		}
	}
	c := &Client{pool: p, addr: addr}
	if err := c.find(ctx); err != nil {
		p.close()
		return nil, err
	}
	return c, nil
}

// find asks for the brokers that are known at the address: a broker knows none
// and does not know the request. The other way round does not do, as name
// servers of 4.9 are silent to a broker's requests.
func (c *Client) find(ctx context.Context) error {
	err := c.refresh(ctx)
	var remote *RemoteError
	switch {
	case err == nil, errors.Is(err, offset.ErrUnreachable), errors.Is(err, context.Canceled):
		return err
	case !errors.As(err, &remote):
		return fmt.Errorf("%w; is that the address of a RocketMQ broker or name server?", err)
	case remote.Code != codeNotSupported:
		return err
	}
	b, err := c.identify(ctx)
	if err != nil {
		return err
	}
	c.self = &b
	return nil
}

// Close closes the connections; calls under way fail with offset.ErrClosed. It
// returns nil, always.
func (c *Client) Close() error {
	c.pool.close()
	return nil
}

// Brokers gives the broker at the address, master or slave; or the masters
// that the name server there knows now, in the order of their names.
func (c *Client) Brokers(ctx context.Context) ([]Broker, error) {
	if c.self != nil {
		return []Broker{*c.self}, nil
	}
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []Broker
	for _, b := range c.masters {
		list = append(list, b)
	}
	slices.SortFunc(list, func(x, y Broker) int { return cmp.Compare(x.Name, y.Name) })
	return list, nil
}

// refresh reads the masters from the name server.
func (c *Client) refresh(ctx context.Context) error {
	masters, err := c.clusterInfo(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.masters, c.read = masters, time.Now()
	return nil
}

// broker gives the broker of that name. The empty name is that of the only
// one, if there is just one.
func (c *Client) broker(name string) (Broker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.masters
	if c.self != nil {
		known = map[string]Broker{c.self.Name: *c.self}
	}
	if b, ok := known[name]; ok {
		return b, nil
	}
	if name != "" {
		return Broker{}, offset.Errorf(offset.ErrNotFound, "%s knows no master of the broker %q", c.addr, name)
	}
	for _, b := range known {
		if len(known) == 1 {
			return b, nil
		}
	}
	return Broker{}, offset.Errorf(offset.ErrInvalid, "the queue names no broker, and %s knows %d", c.addr, len(known))
}

// maxAge is for how long a name server's list is taken for true, as RocketMQ's
// own clients do: a master that became a slave answers on, with what it copied.
const maxAge = 30 * time.Second

// old tells whether the name server should be asked again.
func (c *Client) old() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.self == nil && time.Since(c.read) > maxAge
}

// onBroker makes a call on the master of a name. Where that is not known, or
// cannot be reached, the name server is asked where it is now.
func (c *Client) onBroker(ctx context.Context, name string, call func(Broker) error) error {
	if c.old() {
		_ = c.refresh(ctx) // without a name server the list that there is goes on
	}
	b, err := c.broker(name)
	if err == nil {
		err = call(b)
	}
	if err == nil || c.self != nil || !errors.Is(err, offset.ErrUnreachable) && b != (Broker{}) {
		return err
	}
	if again := c.refresh(ctx); again != nil {
		return fmt.Errorf("%w; %w", err, again)
	}
	now, unknown := c.broker(name)
	switch {
	case unknown != nil:
		return unknown
	case now.Addr == b.Addr:
		return err
	}
	return call(now)
}
