package peer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// RunID names one process for as long as it runs.
type RunID [16]byte

// String gives 32 hexadecimal digits.
func (r RunID) String() string { return hex.EncodeToString(r[:]) }

// IsZero reports whether the id is not known.
func (r RunID) IsZero() bool { return r == RunID{} }

// NewRunID draws a RunID.
func NewRunID() (r RunID) {
	rand.Read(r[:]) // never fails
	return r
}

// Config says how a Peer reaches others and is reached. Fields without a
// default are required. The functions may be called from any goroutine, at any
// time while Run runs, and must not block.
type Config struct {
	// Listener accepts the connections of other members. Run closes it.
	Listener net.Listener
	// Dial connects to a raft port by its host:port; names are resolved at
	// each call. It must return once ctx is done.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// TLS is spoken by both sides before the handshake, on every connection.
	// Nil: there is no TLS, and whoever reaches the port may pass for a member.
	TLS *certs.Members
	// Stranger is called with connections that ended while TLS was agreed on, for
	// want of a certificate, or of the role in it; it must not block. Nil: nothing is.
	Stranger func(from string, err error)
	// ID is this node's "name/member-id".
	ID string
	// Cluster gives the cluster that this node belongs to, zero for none yet.
	// Once it is not zero, it never changes.
	Cluster func() offset.ClusterID
	// Adopt is called when raft of a member of cluster asks for this very node
	// by its full id while Cluster is zero; level is the format level that the
	// cluster uses. It returns nil once the node belongs to that cluster, and
	// may write to the disk before. Nil: refused.
	Adopt func(cluster offset.ClusterID, from string, level uint8) error
	// Level gives the format level that the cluster uses, 0 while not known. A
	// member that cannot read it is refused. Nil: not checked.
	Level func() uint8
	// MaxLevel is the highest format level that this build reads. Default:
	// offset.FormatLevel.
	MaxLevel uint8
	// Handler answers calls.
	Handler Handler
	// Logger takes what there is to say. Default: none.
	Logger hclog.Logger
	// Run names this process. Default: drawn by New.
	Run RunID

	// HandshakeTimeout bounds a handshake, and dialling before it. Default: 2 s.
	HandshakeTimeout time.Duration
	// MaxConns is how many incoming connections of members are kept; further
	// ones are refused. Default: 256.
	MaxConns int
	// MaxStrangers is how many others are kept: those that have not finished
	// their handshake, and those of nodes that belong to no cluster or another. A
	// further one takes the place of the oldest. Default: 64.
	MaxStrangers int
	// MaxCalls is how many calls on one member run at a time; further ones
	// wait here. Default: 1,024.
	MaxCalls int
	// KeepAlive is after how long a silent call connection is asked for a sign
	// of life, and how long that is waited for. Default: 1 s.
	KeepAlive time.Duration
	// Linger is how long connections of a member must have been silent until
	// another process may take its id over. Default: 3 s.
	Linger time.Duration
	// CallTimeout bounds a call whose context has no deadline. Default: 5 s.
	CallTimeout time.Duration
}

// maxFrame is the largest message of a call: an answer that repeats the keys of its
// request.
const maxFrame = offset.MaxAnswer

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Run.IsZero() {
		c.Run = NewRunID()
	}
	if c.Stranger == nil {
		c.Stranger = func(string, error) {}
	}
	if c.Level == nil {
		c.Level = func() uint8 { return 0 }
	}
	def(&c.MaxLevel, offset.FormatLevel)
	def(&c.HandshakeTimeout, 2*time.Second)
	def(&c.MaxConns, 256)
	def(&c.MaxStrangers, 64)
	def(&c.MaxCalls, 1024)
	def(&c.KeepAlive, time.Second)
	def(&c.Linger, 3*time.Second)
	def(&c.CallTimeout, 5*time.Second)
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate checks a Config with its defaults.
func (c Config) validate() error {
	switch {
	case c.Listener == nil, c.Dial == nil, c.Cluster == nil, c.Handler == nil:
		return offset.Errorf(offset.ErrInvalid, "a peer needs a listener, a dialler, a handler and its cluster")
	case c.ID == "":
		return offset.Errorf(offset.ErrInvalid, "a peer needs its member id")
	case c.MaxConns < 1, c.MaxStrangers < 1, c.MaxCalls < 1, c.HandshakeTimeout < 0, c.KeepAlive < 0, c.Linger < 0, c.CallTimeout < 0:
		return offset.Errorf(offset.ErrInvalid, "a bound of the raft port is below its least value")
	}
	return wire.CheckMemberID("member id", c.ID)
}
