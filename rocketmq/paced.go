package rocketmq

import (
	"net"
	"time"
)

// paceStep is for how many bytes of an answer a peer gets the time again that
// it has for the first of them.
const paceStep = 64 << 10

// paced reads an answer from a connection and demands a pace of it: the first
// byte within silence, and each further 64 KiB within as much. So a large table
// may take its time, and a peer that trickles is left.
type paced struct {
	nc      net.Conn
	silence time.Duration
	started time.Time
	got     int64 // bytes since begin
}

// begin begins an answer.
func (p *paced) begin() { p.started, p.got = time.Now(), 0 }

// Read reads from the connection.
func (p *paced) Read(b []byte) (int, error) {
	if err := p.nc.SetReadDeadline(p.started.Add(p.silence * time.Duration(1+p.got/paceStep))); err != nil {
		return 0, err
	}
	n, err := p.nc.Read(b)
	p.got += int64(n)
	return n, err
}
