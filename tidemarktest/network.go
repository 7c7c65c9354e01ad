package tidemarktest

// Side is one end of a link: a *Node, or Clients.
type Side interface{ host() string }

// Clients stands for all that connect to an endpoint.
var Clients Side = outside{}

type outside struct{}

func (outside) host() string { return "clients" }

func (n *Node) host() string { return n.name }

// Cut separates a from b, in both directions, until Heal: connections stay
// open and silent, as where a cable is pulled, and new ones are not made.
func (c *Cluster) Cut(a, b Side) {}

// Pause makes a node silent to the other nodes and to clients until Resume or
// Heal, as a process that was stopped, or hangs: its connections stay open,
// nothing is answered, and what was sent to it meanwhile reaches it afterwards.
func (c *Cluster) Pause(n *Node) {}

// Resume ends Pause.
func (c *Cluster) Resume(n *Node) {}

// Heal ends every Cut, Pause and FailNext. Nodes that were killed stay so.
func (c *Cluster) Heal() {}
