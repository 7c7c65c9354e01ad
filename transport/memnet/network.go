package memnet

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// Network is a set of hosts and the links between each pair of them. Its
// methods may be called from any goroutine.
type Network struct {
	seed int64

	mu    sync.Mutex // guards what follows; taken before a link's or a pipe's
	hosts map[string]*Host
	links map[pair]*link
	names map[string]string // what Point said; "" is unknown
	conns map[*wire]struct{}
}

// pair names the link from one host to another.
type pair struct{ from, to string }

// wire is one connection: the pipe of each direction, named for its reader.
type wire struct {
	dialler, acceptor string
	toAcceptor        *pipe
	toDialler         *pipe
	// sides are both ends, the dialler's first; set before anybody has the wire.
	sides [2]*conn
}

// New returns a network without faults. The seed decides which writes of a
// lossy link reset their connection; a test prints it.
func New(seed int64) *Network {
	return &Network{
		seed:  seed,
		hosts: make(map[string]*Host),
		links: make(map[pair]*link),
		names: make(map[string]string),
		conns: make(map[*wire]struct{}),
	}
}

// Seed returns the seed.
func (n *Network) Seed() int64 { return n.seed }

// Host returns the host of that name, making it at first use.
func (n *Network) Host(name string) *Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.hosts[name]
	if !ok {
		h = &Host{network: n, name: name, listeners: make(map[string]*listener), next: firstEphemeral}
		n.hosts[name] = h
	}
	return h
}

// link returns the link from a to b, making it at first use.
func (n *Network) link(a, b string) *link {
	n.mu.Lock()
	defer n.mu.Unlock()
	l, ok := n.links[pair{a, b}]
	if !ok {
		h := fnv.New64a()
		h.Write([]byte(a + "\x00" + b))
		l = &link{changed: make(chan struct{}), random: rand.New(rand.NewPCG(uint64(n.seed), h.Sum64()))}
		n.links[pair{a, b}] = l
	}
	return l
}

// Cut stops everything that a sends to b, until Heal; the other direction
// stays. What has arrived at b before can still be read.
func (n *Network) Cut(a, b string) {
	n.link(a, b).change(func(f *faults) {
		if !f.cut {
			f.cut, f.cutAt, f.cuts = true, time.Now(), f.cuts+1
		}
	})
}

// Heal ends Cut, Slow and Lossy from a to b.
func (n *Network) Heal(a, b string) {
	n.link(a, b).change((*faults).heal)
}

// HealAll ends all Cut, Slow and Lossy.
func (n *Network) HealAll() {
	n.mu.Lock()
	all := slices.Collect(maps.Values(n.links))
	n.mu.Unlock()
	for _, l := range all {
		l.change((*faults).heal)
	}
}

// Isolate cuts all links to and from a host, except for its own to itself.
func (n *Network) Isolate(name string) {
	n.mu.Lock()
	others := slices.Collect(maps.Keys(n.hosts))
	n.mu.Unlock()
	for _, o := range others {
		if o != name {
			n.Cut(name, o)
			n.Cut(o, name)
		}
	}
}

// Slow delays what a sends to b from now on; 0 ends it.
func (n *Network) Slow(a, b string, delay time.Duration) {
	n.link(a, b).change(func(f *faults) { f.delay = delay })
}

// Lossy makes each write from a to b reset its connection with the given
// probability; 0 ends it.
func (n *Network) Lossy(a, b string, probability float64) {
	n.link(a, b).change(func(f *faults) { f.loss = probability })
}

// Reset resets all connections between a and b, on both sides at once.
func (n *Network) Reset(a, b string) {
	for _, w := range n.wires(func(w *wire) bool {
		return w.dialler == a && w.acceptor == b || w.dialler == b && w.acceptor == a
	}) {
		w.reset()
	}
}

// wires lists the connections that which holds for.
func (n *Network) wires(which func(*wire) bool) (list []*wire) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.conns {
		if which(w) {
			list = append(list, w)
		}
	}
	return list
}

func (n *Network) forget(w *wire) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, w)
}

func (w *wire) reset() {
	w.toAcceptor.reset()
	w.toDialler.reset()
}

// die closes the sides that a host has, as the death of its processes does.
func (w *wire) die(host string) {
	if w.dialler == host {
		w.sides[0].kill()
	}
	if w.acceptor == host {
		w.sides[1].kill()
	}
}

// Conns returns how many connections there are, for tests that look for leaks.
func (n *Network) Conns() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

// Point makes a name resolve to a host; an empty host makes it unknown. Names
// that were never pointed are those of their hosts.
func (n *Network) Point(name, host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names[name] = host
}

// resolve finds the host of a name.
func (n *Network) resolve(name string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if host, ok := n.names[name]; ok {
		if host == "" {
			return "", &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return host, nil
	}
	if _, ok := n.hosts[name]; !ok {
		return "", &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return name, nil
}
