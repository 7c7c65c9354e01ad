package client

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/conn"
)

// Client talks to one cluster. All methods may be called from any goroutine;
// one Client for a process is enough, and what its callers send at the same
// time travels together. Answers may overtake one another: a caller that needs
// one call on a key to see another, or two to take effect in their order, waits for
// the first (a RemoteStore does so by itself). Its methods try again, at other nodes too,
// until the caller's context ends; a context without a deadline is tried for ever.
type Client struct {
	set   settings
	seeds []string
	// life ends with Close; die ends it.
	life context.Context
	die  context.CancelFunc
	// http carries the unary calls, which caller sends; unary counts those
	// under way.
	http   *http.Client
	caller connect.HTTPClient
	unary  sync.WaitGroup
	// commits and fetches have callers share requests; background counts those under
	// way, and the search.
	commits    *sharing[*offset.Commits, offset.Verdict]
	fetches    *sharing[*offset.Fetch, offset.KeyState]
	background sync.WaitGroup
	// renewals counts how often another token was shown than before.
	renewals atomic.Uint64

	mu sync.Mutex
	// The fields below belong to mu.

	closed bool
	// cur is the connection that calls go to; nil while there is none.
	cur *conn.Conn
	// searching is the search for another under way; nil if there is none.
	searching *search
	// shown is the authorization that the newest connection shows.
	shown string
	// leaving: the node at cur has said that it cannot serve, and there is
	// another to ask; calls wait for the connection to that.
	leaving bool
	// old are connections that take no more calls; they end by themselves, and
	// are closed once they have, or with the Client.
	old []*conn.Conn
	// want is where calls should go, leader the leader as last heard of (or empty).
	want, leader string
	// led is the leader that an answer named last; it stays when that fails.
	led string
	// next is the seed that is tried next.
	next int
	// shunned holds addresses that failed, and until when they are passed over.
	shunned map[string]time.Time
	// unreached holds addresses that could not be reached, of which that was logged.
	unreached map[string]struct{}
	// rounds counts the searches in a row that found no node, pause is when
	// the next may begin.
	rounds int
	pause  time.Time
}

// New returns a Client of the cluster that the seeds ("host:port" of API
// ports) belong to; one that answers is enough to find the leader. It does no
// I/O. The error wraps offset.ErrInvalid.
func New(seeds []string, opts ...Option) (*Client, error) {
	if len(seeds) == 0 {
		return nil, offset.Errorf(offset.ErrInvalid, "no seed is given; name the API address (host:port) of at least one node")
	}
	for _, s := range seeds {
		if host, port, err := net.SplitHostPort(s); err != nil || host == "" || port == "" {
			return nil, offset.Errorf(offset.ErrInvalid, "seed %q is not an address of the form host:port", s)
		}
	}
	c := &Client{
		set:       settle(opts),
		seeds:     append([]string(nil), seeds...),
		want:      seeds[0],
		next:      1 % len(seeds),
		shunned:   make(map[string]time.Time),
		unreached: make(map[string]struct{}),
	}
	c.life, c.die = context.WithCancel(context.Background())
	if err := c.set.validate(); err != nil {
		return nil, err
	}
	c.commits, c.fetches = newCommits(c.set.clock), newFetches(c.set.clock)
	c.http = newHTTP(c.set)
	c.caller = bearer{c.http, &c.set}
	return c, nil
}

// Leader is the API address of the leader as last heard; empty if unknown.
func (c *Client) Leader() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader
}

// Close ends all connections and waits for what belongs to them. Calls under
// way end, as offset.ErrOutcomeUnknown if they were sent, and later ones are
// offset.ErrClosed. It may be called more than once.
func (c *Client) Close() error {
	c.die()
	c.mu.Lock()
	c.closed = true
	open, last := c.old, c.cur
	if last != nil {
		open = append(open, last)
	}
	c.cur, c.old = nil, nil
	c.mu.Unlock()
	for _, cn := range open {
		_ = cn.Close() // it has nothing to say
	}
	if last != nil {
		c.disconnected(last)
	}
	c.unary.Wait()
	c.background.Wait()
	c.http.CloseIdleConnections()
	return nil
}
