package javaparts

import (
	"net"
	"strconv"
)

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
