// Package memnet is a network in memory, for clusters inside one process: its
// links can be cut one way, slowed, made to reset connections, and healed.
//
// A connection keeps what a TCP connection keeps: bytes arrive in order or not
// at all, a writer waits once 256 KiB are under way, what is sent over a cut
// link arrives once it heals, closing is told to the other side behind the
// bytes. No goroutine is started; all waiting is done by who reads, writes,
// accepts or dials, so it works inside testing/synctest.
package memnet

import (
	"context"
	"net"
	"time"
)

// Network is a set of hosts and the links between each pair of them. Its
// methods may be called from any goroutine.
type Network struct {
	seed int64
}

// New returns a network without faults. The seed decides which writes of a
// lossy link reset their connection; a test prints it.
func New(seed int64) *Network { return &Network{seed: seed} }

// Seed returns the seed.
func (n *Network) Seed() int64 { return n.seed }

// Host returns the host of that name, making it at first use.
func (n *Network) Host(name string) *Host { return &Host{name: name} }

// Cut stops everything that a sends to b, until Heal; the other direction stays.
func (n *Network) Cut(a, b string) {}

// Heal ends Cut, Slow and Lossy from a to b.
func (n *Network) Heal(a, b string) {}

// HealAll ends all Cut, Slow and Lossy.
func (n *Network) HealAll() {}

// Isolate cuts all links to and from a host.
func (n *Network) Isolate(name string) {}

// Slow delays what a sends to b; 0 ends it.
func (n *Network) Slow(a, b string, delay time.Duration) {}

// Lossy makes each write from a to b reset its connection with the given
// probability; 0 ends it.
func (n *Network) Lossy(a, b string, probability float64) {}

// Reset resets all connections between a and b.
func (n *Network) Reset(a, b string) {}

// Point makes a name resolve to a host; an empty host makes it unknown. Names
// that were never pointed are those of their hosts.
func (n *Network) Point(name, host string) {}

// Host is one machine.
type Host struct{ name string }

// Name returns the host's name.
func (h *Host) Name() string { return h.name }

// Listen listens at addr, "host:port" or ":port".
func (h *Host) Listen(addr string) (net.Listener, error) { return nil, net.ErrClosed }

// Dial connects to addr, "host:port"; the name is resolved at each call.
func (h *Host) Dial(ctx context.Context, addr string) (net.Conn, error) { return nil, net.ErrClosed }

// Down resets all connections of the host and closes its listeners, as the
// death of its processes does.
func (h *Host) Down() {}
