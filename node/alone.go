package node

import (
	"context"
	"net"
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// nowhere is the peer address, in raft's configuration and in status, of a
// member without a network. A name below .invalid never resolves (RFC 2606).
const nowhere = "nowhere.invalid:1"

// withoutNetwork fills in what a member has instead of a network: a port that
// nobody comes to, a dialler that reaches nobody, and itself as the only founder.
func (c *Config) withoutNetwork() {
	c.PeerListener = newDeadPort()
	c.Dial = reachNobody
	c.AdvertisePeer = nowhere
	c.InitialCluster = []Founder{{Name: c.Name, Peer: nowhere}}
}

// networkless refuses what belongs to a network.
func (c *Config) networkless() error {
	if c.PeerListener != nil || c.Dial != nil || c.AdvertisePeer != "" || len(c.InitialCluster) > 0 {
		return offset.Errorf(offset.ErrInvalid, "a member that is alone has no listener, dialler, raft address or initial cluster")
	}
	return nil
}

func reachNobody(context.Context, string) (net.Conn, error) {
	return nil, offset.Errorf(offset.ErrUnreachable, "this member runs alone, without a network; start it with a raft port (--peer-listen) first")
}

// deadPort is a listener that nobody connects to.
type deadPort struct {
	closed chan struct{}
	once   sync.Once
}

func newDeadPort() *deadPort { return &deadPort{closed: make(chan struct{})} }

// Accept waits for Close.
func (p *deadPort) Accept() (net.Conn, error) {
	<-p.closed
	return nil, net.ErrClosed
}

// Close ends Accept; it may be called again.
func (p *deadPort) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is an address that does not exist.
func (p *deadPort) Addr() net.Addr { return memberAddr(nowhere) }

// fitsAlone refuses to run a member of a larger cluster without a network:
// it would wait for the others for ever.
func (r *replica) fitsAlone() error {
	if n := len(r.servers()); r.config.Alone && n > 1 {
		return &Stopped{ExitConfig, offset.Errorf(offset.ErrInvalid,
			"the data folder %s is that of %s, which belongs to a cluster of %d members by now: it needs a network, as tidemarkd gives it", r.config.Dir, r.id, n)}
	}
	return nil
}
