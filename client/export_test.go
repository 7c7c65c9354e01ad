package client

import "net"

// StartNode serves a node at a port of the loopback interface, for examples.
func StartNode() (seeds []string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	addr := l.Addr().String()
	c := emptyCluster(addr)
	c.serveAt(addr, l)
	return []string{addr}, c.stop, nil
}
