package node

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// founding brings a member to its cluster: it founds one, is founded, finds
// that it is listed, or waits to be added. DESIGN.md tells how.
//
// The peer must run meanwhile: its Handler's Hello and Found, and its Adopt,
// are those of founding.
type founding struct{}

// foundingConfig is what founding needs. Required but where a default is named.
type foundingConfig struct {
	identity *identity
	// initial is Config.InitialCluster; empty: wait to be added.
	initial []Founder
	// peer and api are the advertised addresses.
	peer, api string
	// empty tells that log, vote store and snapshots hold nothing.
	empty bool
	// run is the peer's RunID.
	run peer.RunID
	// meet returns the calls on whoever answers at addr: peer.Peer.To("", addr).
	meet func(addr string) meeter
	// listed tells, once raft runs, whether its configuration lists id, and
	// level what the state says. Nil before: the draw counts, and level 0.
	listed func(id string) bool
	level  func() uint8
	// retry is how long to wait between two rounds, report between two lines
	// of the log. Default: 250 ms, 10 s.
	retry, report time.Duration
	// logger takes what an operator should know. Default: none.
	logger hclog.Logger
}

// meeter is what can be asked of a node that belongs to no cluster yet; a
// *peer.Remote is one.
type meeter interface {
	Hello(ctx context.Context) (peer.Hello, error)
	Found(ctx context.Context, f peer.Founding) error
}

// newFounding returns a founding; it does no I/O.
func newFounding(c foundingConfig) *founding { return &founding{} }

// run blocks until the member belongs to a cluster and raft may start; the
// identity tells how: with founders and not started, BootstrapCluster with
// them as voters, then markStarted; else markStarted alone. It returns at once
// where the member has been started before, but for the look whether another
// process has its identity. Errors end the node: they name the option or
// command that is the way out.
func (f *founding) run(ctx context.Context) error { return offset.ErrNotReady }

// hello answers peer.Handler's Hello, before, while and after run.
func (f *founding) hello(from string) peer.Hello { return peer.Hello{} }

// found answers peer.Handler's Found.
func (f *founding) found(ctx context.Context, from string, g peer.Founding) error {
	return offset.ErrNotReady
}

// adopt is peer.Config's Adopt.
func (f *founding) adopt(cluster offset.ClusterID, from string) error { return offset.ErrNotReady }

// checkAddresses checks what this member listens on and advertises against the
// other founders, before anything is written; errors wrap offset.ErrInvalid
// and name the option. Names are not resolved.
func checkAddresses(name, listen, advertise string, initial []Founder) error {
	return offset.ErrNotReady
}

// ParseFounders reads "n1=host:7412,n2=host:7412", the form of
// --initial-cluster; the error wraps offset.ErrInvalid.
func ParseFounders(s string) ([]Founder, error) { return nil, offset.ErrNotReady }
