package tidemarktest

// Side is one end of a link: a *Node, or Clients.
type Side interface{ host() string }

// Clients stands for all that connect to an endpoint.
var Clients Side = outside{}

type outside struct{}

func (outside) host() string { return "clients" }

func (n *Node) host() string { return n.member.Host }

// link is one direction between two hosts.
type link struct{ from, to string }

// Cut separates a from b, in both directions, until Heal, as where a cable is
// pulled: connections stay open and silent, and what is sent over them arrives
// once healed. Clients that connect meanwhile get a connection, which is as silent.
func (c *Cluster) Cut(a, b Side) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts[link{a.host(), b.host()}] = struct{}{}
	c.cuts[link{b.host(), a.host()}] = struct{}{}
	c.applyLocked()
}

// Pause makes a node silent to the other nodes and to clients until Resume or
// Heal, as a process that was stopped, or hangs: its connections stay open,
// nothing is answered, and what was sent to it meanwhile reaches it afterwards.
func (c *Cluster) Pause(n *Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused[n] = struct{}{}
	c.applyLocked()
}

// Resume ends Pause.
func (c *Cluster) Resume(n *Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.paused, n)
	c.applyLocked()
}

// Heal ends every Cut, Pause and FailNext. Nodes that were killed stay so.
func (c *Cluster) Heal() {
	c.failures.clear()
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.cuts)
	clear(c.paused)
	c.applyLocked()
}

// applyLocked makes the network what cuts and paused say. A link that stays cut
// is not healed for a moment.
func (c *Cluster) applyLocked() {
	hosts := []Side{Clients}
	silent := make(map[string]bool)
	for _, n := range c.nodes {
		hosts = append(hosts, n)
		_, silent[n.host()] = c.paused[n]
	}
	for _, a := range hosts {
		for _, b := range hosts {
			l := link{a.host(), b.host()}
			_, cut := c.cuts[l]
			switch {
			case l.from == l.to:
			case cut || silent[l.from] || silent[l.to]:
				c.members.Net.Cut(l.from, l.to)
			default:
				c.members.Net.Heal(l.from, l.to)
			}
		}
	}
}
