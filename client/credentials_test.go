package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/auth/certs/certstest"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestNoTokenInCleartext: New refuses what would show a token to whoever is on
// the way, unless that is said.
func TestNoTokenInCleartext(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []Option
		refused bool
	}{
		{"token", []Option{WithToken("x")}, true},
		{"token file", []Option{WithTokenFile("x")}, true},
		{"told so", []Option{WithToken("x"), WithInsecureToken()}, false},
		{"TLS", []Option{WithToken("x"), WithTLS(&tls.Config{})}, false},
		{"TLS files", []Option{WithToken("x"), WithTLSFiles(TLSFiles{})}, false},
		{"no token", []Option{WithToken("")}, false},
		{"TLS taken back", []Option{WithTLS(&tls.Config{}), WithToken("x"), WithTLS(nil)}, true},
	} {
		cl, err := New([]string{"h:1"}, c.options...)
		if errors.Is(err, offset.ErrInvalid) != c.refused {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			_ = cl.Close()
		}
	}
}

// server speaks TLS with f, and HTTP above it.
func server(t *testing.T, f certstest.Files, protocols ...string) (addr string) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: protocols})
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return l.Addr().String()
}

// TestServersAreVerified: a server that is not what the certificates say gets neither a
// call nor the token, and the error says what is wrong.
func TestServersAreVerified(t *testing.T) {
	ca, foreign := certstest.New(t), certstest.New(t)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	go func() {
		for c, err := plain.Accept(); err == nil; c, err = plain.Accept() {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}
	}()
	for name, c := range map[string]struct{ addr, want string }{
		"another CA":   {server(t, foreign.Member("n"), "h2"), "unknown authority"},
		"another host": {server(t, ca.Member("n", "other.example"), "h2"), "other.example"},
		"expired":      {server(t, ca.MemberFor("old", certs.MemberRole, -time.Minute), "h2"), "expired"},
		"a client":     {server(t, ca.Client("app"), "h2"), "127.0.0.1"},
		"not HTTP/2":   {server(t, ca.Member("n1")), "does not speak"},
		"cleartext":    {plain.Addr().String(), "does the node speak TLS"},
	} {
		for what, call := range map[string]func(ctx context.Context, cl *Client) error{
			"fetch": func(ctx context.Context, cl *Client) error {
				_, _, err := cl.Fetch(ctx, offset.ReadAt{}, key(1))
				return err
			},
			"status": func(ctx context.Context, cl *Client) error { _, err := cl.Status(ctx, ""); return err },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			cl, err := New([]string{c.addr}, WithToken("secret"), WithTLSFiles(TLSFiles{CA: ca.File}), WithHooks(Hooks{Retried: func(_ string, _ int, err error) {
				if strings.Contains(err.Error(), c.want) {
					cancel() // it would be tried again for as long as there is time
				}
			}}))
			if err != nil {
				t.Fatal(err)
			}
			if err := call(ctx, cl); !errors.Is(err, offset.ErrUnreachable) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %s: %v, want %q", what, name, err, c.want)
			}
			cancel()
			_ = cl.Close()
		}
	}
}

// TestFilesOfTLS: what was replaced is used from the next connection on; what
// cannot be used does not take its place.
func TestFilesOfTLS(t *testing.T) {
	ca := certstest.New(t)
	mine := ca.Client("app")
	f := newFileTLS(TLSFiles{CA: ca.File, Cert: mine.Cert, Key: mine.Key})
	shown := func() string {
		t.Helper()
		c, err := f.config(t.Context(), "h")
		if err != nil {
			t.Fatal(err)
		}
		pair, err := c.GetClientCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber.String()
	}
	first := shown()
	old, err := os.ReadFile(mine.Key)
	if err != nil {
		t.Fatal(err)
	}
	ca.Client("app") // replaces both
	if shown() == first {
		t.Error("the new certificate is not used")
	}
	second := shown()
	certstest.Write(t, mine.Key, old)
	if shown() != second {
		t.Error("a key that does not fit is used")
	}
	if _, err := newFileTLS(TLSFiles{CA: filepath.Join(t.TempDir(), "x")}).config(t.Context(), "h"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a CA that is not there: %v", err)
	}
}
