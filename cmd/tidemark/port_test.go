package main

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// TestC53WrongPort asks ports where something else listens, or nothing: each
// is exit code 2 with one line, in time.
func TestC53WrongPort(t *testing.T) {
	tls := "\x15\x03\x01\x00\x02\x02\x46" // an alert of a server that wants TLS
	for name, answer := range map[string]string{
		"closes at once": "", "speaks TLS": tls, "speaks HTTP": "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "speaks Redis": "-ERR unknown command\r\n",
	} {
		t.Run(name, func(t *testing.T) { wantUnreachable(t, listen(t, answer)) })
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	wantUnreachable(t, l.Addr().String())
}

// listen answers each connection with the same bytes and ends it.
func listen(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadAtLeast(c, make([]byte, 1024), 1)
			_, _ = io.WriteString(c, answer)
			c.Close()
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

func wantUnreachable(t *testing.T, addr string) {
	t.Helper()
	for _, args := range [][]string{{"get", "g"}, {"cluster", "status", "-o", "json"}, {"export"}} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append(args, "--timeout", "300ms", "--endpoints", addr), streams{out: &out, err: &errs}, dial)
		if code != exitUnreachable || out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "check --endpoints") || strings.Count(errs.String(), "cannot be reached") > 1 {
			t.Errorf("%q gives %d, %q, %q", args, code, &out, &errs)
		}
	}
}
