package client

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/frames/framestest"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// fault is what befalls one call.
type fault uint8

const (
	none fault = iota
	// lose: the call is not applied and not answered.
	lose
	// loseAnswer: it is applied, and not answered.
	loseAnswer
	// refuse: it is not applied, and answered with the error of the script.
	refuse
	// cut: it is not applied, and the connection breaks.
	cut
	// cutAfter: it is applied, and the connection breaks.
	cutAfter
)

// fakeCluster is a few nodes over one state, one of which leads.
type fakeCluster struct {
	tb    testing.TB
	net   *fakeNet
	state *fakeState

	mu     sync.Mutex
	leader string
	nodes  map[string]*fakeNode
	// started are all nodes that ever were.
	started []*fakeNode
	acts    map[offset.ActID]offset.ActResult
	// calls counts what came, by node and kind ("commit", "set", "fetch", …).
	calls map[string]int
	keys  int
	hook  func(keys int)
	// slow and slowBy are slowFetch's, old is behind's.
	slow   offset.Key
	slowBy time.Duration
	old    *offset.Meta
	// script decides what befalls a call; nil: nothing.
	script func(n *fakeNode, kind string, nth int) (fault, error)
	// bars is bar's, barsReads is barReads'.
	bars, barsReads func(offset.Key) error
}

// fakeNode serves the API of one node.
type fakeNode struct {
	tidemarkv1connect.UnimplementedOffsetServiceHandler
	tidemarkv1connect.UnimplementedGroupServiceHandler
	tidemarkv1connect.UnimplementedClusterServiceHandler

	c       *fakeCluster
	addr    string
	server  *http.Server
	streams *framestest.Handler
	done    sync.WaitGroup

	// closing is closed when the node says that it stops.
	closing chan struct{}

	mu sync.Mutex
	// mute: no answer and no sign of life leaves this node any more.
	mute bool
}

// quiet makes the node say nothing any more.
func (n *fakeNode) quiet() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mute = true
}

// newFakeCluster starts nodes at addrs; the first leads.
func newFakeCluster(tb testing.TB, addrs ...string) *fakeCluster {
	tb.Helper()
	c := emptyCluster(addrs[0])
	c.tb = tb
	for _, a := range addrs {
		c.start(a)
	}
	tb.Cleanup(c.stop)
	return c
}

func emptyCluster(leader string) *fakeCluster {
	return &fakeCluster{
		net: newFakeNet(), state: newFakeState(1), leader: leader,
		nodes: make(map[string]*fakeNode), calls: make(map[string]int), acts: make(map[offset.ActID]offset.ActResult),
	}
}

// stop ends all nodes.
func (c *fakeCluster) stop() {
	for _, n := range c.started {
		n.close()
		n.done.Wait()
		n.streams.Wait()
	}
}

// start starts a node on the network in memory.
func (c *fakeCluster) start(addr string) { c.serveAt(addr, c.net.listen(addr)) }

func (c *fakeCluster) serveAt(addr string, l net.Listener) {
	n := &fakeNode{c: c, addr: addr, closing: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle(tidemarkv1connect.NewOffsetServiceHandler(n))
	mux.Handle(tidemarkv1connect.NewGroupServiceHandler(n))
	mux.Handle(tidemarkv1connect.NewClusterServiceHandler(n))
	n.streams = framestest.New(mux, n.stream)
	n.server = &http.Server{Handler: n.streams, Protocols: new(http.Protocols)}
	n.server.Protocols.SetUnencryptedHTTP2(true)
	n.server.Protocols.SetHTTP1(true)
	n.done.Go(func() { _ = n.server.Serve(l) })
	c.mu.Lock()
	c.nodes[addr] = n
	c.started = append(c.started, n)
	c.mu.Unlock()
}

// kill ends a node and every connection to it.
func (c *fakeCluster) kill(addr string) {
	c.mu.Lock()
	n := c.nodes[addr]
	delete(c.nodes, addr)
	c.mu.Unlock()
	if n != nil {
		n.close()
	}
}

// close ends the node and every connection to it.
func (n *fakeNode) close() {
	n.server.Close()
	n.streams.Close()
}

func (c *fakeCluster) node(addr string) *fakeNode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[addr]
}

// lead makes another node the leader; empty: none.
func (c *fakeCluster) lead(addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = addr
}

func (c *fakeCluster) leads() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader
}

// play sets what befalls the nth call (from 1) of a kind.
func (c *fakeCluster) play(script func(n *fakeNode, kind string, nth int) (fault, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.script = script
}

// bar refuses each request of commits in which there is a key with an error.
func (c *fakeCluster) bar(why func(offset.Key) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bars = why
}

// barReads refuses each read of keys in which there is one with an error.
func (c *fakeCluster) barReads(why func(offset.Key) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.barsReads = why
}

func (c *fakeCluster) barredRead(keys []offset.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		if c.barsReads == nil {
			break
		}
		if err := c.barsReads(k); err != nil {
			return err
		}
	}
	return nil
}

func (c *fakeCluster) barred(q *offset.Commits) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bars == nil {
		return nil
	}
	for _, t := range q.Topics {
		for _, x := range t.Queues {
			k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: x.QueueID}}
			if err := c.bars(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// came notes a call and gives what befalls it.
func (c *fakeCluster) came(n *fakeNode, kind string) (fault, error) {
	c.mu.Lock()
	c.calls[kind]++
	c.calls[n.addr+" "+kind]++
	script, nth := c.script, c.calls[kind]
	c.mu.Unlock()
	if script == nil {
		return none, nil
	}
	return script(n, kind, nth)
}

// sawKeys counts the keys of a fetch, and calls the hook of onFetch.
func (c *fakeCluster) sawKeys(n int) {
	c.mu.Lock()
	c.keys += n
	hook := c.hook
	c.mu.Unlock()
	if hook != nil {
		hook(n)
	}
}

// slowFetch makes the next fetch of k alone wait between its reading and its answer.
func (c *fakeCluster) slowFetch(k offset.Key, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slow, c.slowBy = k, d
}

func (c *fakeCluster) delay(k offset.Key) {
	c.mu.Lock()
	d := c.slowBy
	if k != c.slow {
		d = 0
	} else {
		c.slowBy = 0
	}
	c.mu.Unlock()
	time.Sleep(d)
}

// behind makes local reads answer, from now on, what is there now.
func (c *fakeCluster) behind() {
	m := c.state.meta(c.leads())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.old = &m
}

// view reads for a fetch.
func (c *fakeCluster) view(q *offset.Fetch) ([]offset.KeyState, offset.Meta) {
	states, meta := c.state.fetch(q.Keys), c.state.meta(c.leads())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.old != nil && q.At.Level == offset.Local {
		return states, *c.old
	}
	return states, meta
}

// onFetch sets who is told, before it is answered, of each fetch.
func (c *fakeCluster) onFetch(hook func(keys int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hook = hook
}

// fetched counts the keys that were fetched.
func (c *fakeCluster) fetched() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys
}

func (c *fakeCluster) count(kind string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[kind]
}

// client gives a Client of the cluster, closed at the end of the test.
func (c *fakeCluster) client(opts ...Option) *Client {
	c.tb.Helper()
	var seeds []string
	c.mu.Lock()
	for a := range c.nodes {
		seeds = append(seeds, a)
	}
	c.mu.Unlock()
	slices.Sort(seeds)
	return c.clientOf(seeds, opts...)
}

func (c *fakeCluster) clientOf(seeds []string, opts ...Option) *Client {
	c.tb.Helper()
	cl, err := New(seeds, append([]Option{WithDialer(c.net.dial), WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		c.tb.Fatal(err)
	}
	c.tb.Cleanup(func() { cl.Close() })
	return cl
}

// fakeStream is one stream of one client.
type fakeStream struct {
	n    *fakeNode
	s    *frames.Server
	mu   sync.Mutex
	open int
}

func (f *fakeStream) send(m *tidemarkv1.StreamResponse) {
	f.n.mu.Lock()
	mute := f.n.mute
	f.n.mu.Unlock()
	if mute {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.s.Send(m)
}

// stream serves calls, each by itself.
func (n *fakeNode) stream(ctx context.Context, s *frames.Server) error {
	f := &fakeStream{n: n, s: s}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { f.signs(ctx) })
	for {
		m, err := s.Receive()
		if err != nil {
			cancel()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		for _, call := range m.GetCalls() {
			f.mu.Lock()
			f.open++
			f.mu.Unlock()
			all.Go(func() {
				r := n.serve(call)
				if r == nil {
					return
				}
				f.mu.Lock()
				f.open--
				f.mu.Unlock()
				r.Id = call.GetId()
				f.send(&tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{r}})
			})
		}
	}
}

// signs sends signs of life while calls are open, and the word that the node stops.
func (f *fakeStream) signs(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	closing := f.n.closing
	for {
		select {
		case <-ctx.Done():
			return
		case <-closing:
			closing = nil
			f.send(&tidemarkv1.StreamResponse{Closing: true})
		case <-tick.C:
			f.mu.Lock()
			open := f.open
			f.mu.Unlock()
			if open > 0 {
				f.send(&tidemarkv1.StreamResponse{})
			}
		}
	}
}

// serve answers one call of a stream; nil: it is not answered.
func (n *fakeNode) serve(call *tidemarkv1.Call) *tidemarkv1.Reply {
	kind, apply := n.apply(call)
	f, err := n.c.came(n, kind)
	switch f {
	case lose:
		return nil
	case loseAnswer:
		apply()
		return nil
	case cut, cutAfter:
		if f == cutAfter {
			apply()
		}
		n.c.kill(n.addr)
		return nil
	case refuse:
		return &tidemarkv1.Reply{Reply: &tidemarkv1.Reply_Error{Error: wire.ToError(err)}}
	}
	return apply()
}

// apply gives the kind of a call, and what does it.
func (n *fakeNode) apply(call *tidemarkv1.Call) (string, func() *tidemarkv1.Reply) {
	bad := func(err error) *tidemarkv1.Reply {
		return &tidemarkv1.Reply{Reply: &tidemarkv1.Reply_Error{Error: wire.ToError(err)}}
	}
	switch m := call.GetCall().(type) {
	case *tidemarkv1.Call_Commit:
		return "commit", func() *tidemarkv1.Reply {
			q, err := wire.FromCommitRequest(m.Commit)
			if err != nil {
				return bad(err)
			}
			if err := n.c.barred(q); err != nil {
				return bad(err)
			}
			v := n.c.state.commit(q)
			return &tidemarkv1.Reply{Reply: &tidemarkv1.Reply_Commit{Commit: wire.ToCommitResponse(q, v, wire.ToMeta(n.c.state.meta(n.c.leads())))}}
		}
	case *tidemarkv1.Call_Set:
		return "set", func() *tidemarkv1.Reply {
			q, err := wire.FromSetRequest(m.Set)
			if err != nil {
				return bad(err)
			}
			v := n.c.state.set(q)
			return &tidemarkv1.Reply{Reply: &tidemarkv1.Reply_Set{Set: wire.ToSetResponse(q.Key, v, n.c.state.meta(n.c.leads()))}}
		}
	case *tidemarkv1.Call_Fetch:
		return "fetch", func() *tidemarkv1.Reply {
			q, err := wire.FromFetchRequest(m.Fetch)
			if err != nil {
				return bad(err)
			}
			n.c.sawKeys(len(q.Keys))
			if err := n.c.barredRead(q.Keys); err != nil {
				return bad(err)
			}
			states, meta := n.c.view(q)
			n.c.delay(q.Keys[0])
			return &tidemarkv1.Reply{Reply: &tidemarkv1.Reply_Fetch{Fetch: wire.ToFetchResponse(q.Keys, states, wire.ToMeta(meta))}}
		}
	}
	return "unknown", func() *tidemarkv1.Reply { return bad(offset.ErrInvalid) }
}
