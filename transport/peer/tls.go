package peer

import (
	"crypto/tls"
	"fmt"
	"net"
)

// secured is a connection that was dialled, under TLS where there is any; it
// does no I/O.
func (p *Peer) secured(raw net.Conn, addr string) net.Conn {
	if p.config.TLS == nil {
		return raw
	}
	return tls.Client(raw, p.config.TLS.Client(addr))
}

// accepted is secured for one that came in.
func (p *Peer) accepted(raw net.Conn) net.Conn {
	if p.config.TLS == nil {
		return raw
	}
	return tls.Server(raw, p.config.TLS.Server())
}

// agree makes TLS's handshake, within the connection's deadline. When it
// returns nil on the side that accepts, the other side has shown that it is a
// member; on the side that dials, that shows with the first answer.
func agree(c net.Conn) error {
	t, ok := c.(*tls.Conn)
	if !ok {
		return nil
	}
	if err := t.Handshake(); err != nil {
		return fmt.Errorf("TLS between members: %w", err)
	}
	return nil
}
