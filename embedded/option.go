package embedded

import (
	"log/slog"
	"net"
	"time"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// Option changes one setting of a Node. A nil one changes nothing.
type Option func(*settings)

type settings struct {
	name                        string
	api, peer                   string // to listen at; both empty: no network
	advertiseAPI, advertisePeer string
	join                        bool
	preset                      string
	logger                      *slog.Logger
}

// WithName names the member; the default is the name that the folder has, and
// "n1" for a new one. A folder keeps its name: another one is refused.
func WithName(name string) Option { return func(s *settings) { s.name = name } }

// WithListen opens the node to the outside: api is the address for clients and
// operators, peer that for the other members ("host:port"; a port 0 is one that
// the system chooses). Without it the node has no port at all, and can have no
// other members.
func WithListen(api, peer string) Option {
	return func(s *settings) { s.api, s.peer = api, peer }
}

// WithAdvertise says at which addresses others reach what WithListen opened;
// the default is what it was given. Needed where that names no host (":7411").
func WithAdvertise(api, peer string) Option {
	return func(s *settings) { s.advertiseAPI, s.advertisePeer = api, peer }
}

// WithJoin is for a node that has, or shall have, other members: a folder that
// is empty founds nothing then, but waits to be added to their cluster, as the
// log says how. So a lost disk comes back as a new member, and never as a
// second, empty cluster. It needs WithListen.
func WithJoin() Option { return func(s *settings) { s.join = true } }

// WithTimers sets raft's timers by the name of a preset, as tidemarkd's
// --timers: "lan", the default, or "slow-disk". All members should have the
// same. Without WithListen it changes nothing.
func WithTimers(preset string) Option { return func(s *settings) { s.preset = preset } }

// WithLogger sets who is told what the node does; the default is nobody.
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.logger = l } }

// alone reports whether the node has no network.
func (s *settings) alone() bool { return s.api == "" && s.peer == "" }

// settle applies opts over the defaults, and checks what goes together. The
// errors wrap offset.ErrInvalid.
func settle(dir string, opts []Option) (*settings, error) {
	s := &settings{preset: "lan"}
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	switch {
	case dir == "":
		return nil, offset.Errorf(offset.ErrInvalid, "no folder is named")
	case !s.alone() && (s.api == "" || s.peer == ""):
		return nil, offset.Errorf(offset.ErrInvalid, "WithListen has %q for clients and %q for members; both are needed", s.api, s.peer)
	case s.alone() && (s.join || s.advertiseAPI != "" || s.advertisePeer != ""):
		return nil, offset.Errorf(offset.ErrInvalid, "WithJoin and WithAdvertise need WithListen: without it there is no port that another member could reach")
	}
	if s.name != "" {
		return s, nil
	}
	name, err := node.NameIn(dir)
	if err != nil {
		return nil, err
	}
	if s.name = name; name == "" {
		s.name = "n1"
	}
	return s, nil
}

// timers are raft's. Alone there is nobody whose silence could be mistaken for
// death, so that the one vote there is need not wait as long.
func (s *settings) timers() (node.Timers, error) {
	if s.alone() {
		const t = 50 * time.Millisecond
		return node.Timers{Heartbeat: t, Election: t, Lease: t, Commit: 15 * time.Millisecond}, nil
	}
	return node.TimersNamed(s.preset)
}

// advertised is where others reach a listener: what was said, or what it was
// told to listen at, with the port that it has.
func advertised(said, listen string, l net.Listener) (string, error) {
	if said != "" {
		return said, nil
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return "", offset.Errorf(offset.ErrInvalid, "%q is not host:port", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "", offset.Errorf(offset.ErrInvalid, "%q accepts on every address of this machine; say by WithAdvertise at which one others reach it", listen)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, port), nil
}
