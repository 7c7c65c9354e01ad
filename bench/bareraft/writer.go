package bareraft

import (
	"bufio"
	"net"
)

// writeAll writes frames as they come, those that wait at the same time in one
// write, until end is closed. If writing fails it closes the connection, so
// that its reader ends, and with that whoever waits.
func writeAll(nc net.Conn, frames <-chan []byte, end <-chan struct{}) {
	out := bufio.NewWriterSize(nc, 64<<10)
	for {
		var f []byte
		select {
		case f = <-frames:
		case <-end:
			return
		}
		_, err := out.Write(f)
		for n := len(frames); n > 0 && err == nil; n-- {
			_, err = out.Write(<-frames)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			nc.Close()
			return
		}
	}
}
