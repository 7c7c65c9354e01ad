package embedded

import (
	"net"

	"github.com/tidemark-mq/tidemark/offset"
)

// ports are what WithListen opens; the zero value has none.
type ports struct {
	api, peer net.Listener // nil for none
	// apiAddr and peerAddr are where others reach them.
	apiAddr, peerAddr string
}

// open listens at both, before anything is written.
func (p *ports) open(s *settings) (err error) {
	for _, x := range []struct {
		listen, said string
		l            *net.Listener
		addr         *string
	}{{s.api, s.advertiseAPI, &p.api, &p.apiAddr}, {s.peer, s.advertisePeer, &p.peer, &p.peerAddr}} {
		l, err := net.Listen("tcp", x.listen)
		if err != nil {
			return offset.Errorf(offset.ErrInvalid, "WithListen: %v", err)
		}
		*x.l = l
		if *x.addr, err = advertised(x.said, x.listen, l); err != nil {
			return err
		}
	}
	return nil
}

func (p *ports) close() {
	for _, l := range []net.Listener{p.api, p.peer} {
		if l != nil {
			_ = l.Close() // nobody has used it
		}
	}
}
