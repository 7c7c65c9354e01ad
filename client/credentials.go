package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/internal/livefile"
	"github.com/tidemark-mq/tidemark/offset"
)

// TLSFiles are what a Client verifies nodes by, and shows them of itself.
type TLSFiles struct {
	// CA is a file, in PEM, of the CA certificates that those of nodes are signed by;
	// empty: the system's.
	CA string
	// Cert and Key are the files, in PEM, of a certificate that says who this
	// client is; both empty: it shows none.
	Cert, Key string
}

// WithTLS makes the Client speak TLS. The name that a node's certificate must
// have is the host of its address, unless c names one. The default is cleartext.
func WithTLS(c *tls.Config) Option {
	return func(s *settings) {
		if s.tls = nil; c != nil {
			s.tls = func(_ context.Context, host string) (*tls.Config, error) {
				c := c.Clone()
				if c.ServerName == "" {
					c.ServerName = host
				}
				return c, nil
			}
		}
	}
}

// WithTLSFiles is WithTLS with the content of files. They are read when a
// connection is opened, so that what was replaced is used from the next one on;
// what cannot be used, such as a key that does not fit yet, never takes the
// place of what could.
func WithTLSFiles(f TLSFiles) Option {
	return func(s *settings) { s.tls = newFileTLS(f).config }
}

// WithToken makes the Client show a token, by which nodes know who it is. New
// refuses it without TLS.
func WithToken(token string) Option {
	return func(s *settings) {
		if s.token = nil; token != "" {
			s.token = func(context.Context, bool) (string, error) { return token, nil }
		}
	}
}

// WithTokenFile is WithToken with the content of a file, which is read again when
// connections are opened, and when a node refuses what it held before: a token
// that was replaced there, and then revoked, fails no call. A disk that does not
// answer holds up no call; what was read before stays in use.
func WithTokenFile(path string) Option {
	return func(s *settings) { s.token = newFileToken(path).token }
}

// WithInsecureToken lets a token be sent without TLS, where anybody on the way can
// read it and pass for this client from then on.
func WithInsecureToken() Option { return func(s *settings) { s.insecureToken = true } }

// validate refuses settings that do not go together.
func (s *settings) validate() error {
	if s.token != nil && s.tls == nil && !s.insecureToken {
		return offset.Errorf(offset.ErrInvalid, "a token is not sent without TLS, where others can read it: add WithTLS or WithTLSFiles, or WithInsecureToken if nobody is on the way")
	}
	return nil
}

// fileTLS makes a tls.Config of files, and reads them again for each connection.
type fileTLS struct {
	latest latest[func(host string) *tls.Config]
	files  TLSFiles
	// cas and pair belong to whoever reads; nil until opened, and where there is none.
	cas  *certs.CAs
	pair *certs.Pair
}

func newFileTLS(files TLSFiles) *fileTLS {
	f := &fileTLS{files: files}
	f.latest.read = f.read
	return f
}

func (f *fileTLS) config(ctx context.Context, host string) (*tls.Config, error) {
	configOf, err := f.latest.get(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("reading the certificates: %w", err)
	}
	return configOf(host), nil
}

func (f *fileTLS) read() (configOf func(host string) *tls.Config, err error) {
	if f.files.CA != "" && f.cas == nil {
		cas, err := certs.OpenCAs(f.files.CA)
		if err != nil {
			return nil, err
		}
		f.cas = &cas
	} else if f.cas != nil {
		renew(f.cas)
	}
	if f.files.Cert+f.files.Key != "" && f.pair == nil {
		pair, err := certs.OpenPair(f.files.Cert, f.files.Key)
		if err != nil {
			return nil, err
		}
		f.pair = &pair
	} else if f.pair != nil {
		renew(f.pair)
	}
	cas, pair := f.cas, f.pair
	return func(host string) *tls.Config { return certs.Client(host, cas, pair) }, nil
}

// renew takes what a file holds now, read twice; what cannot be used is left.
func renew(f livefile.File) {
	for range 2 {
		_, _ = f.Check() // the value before stays in use
	}
}

// fileToken reads a token from a file, again once a second at most, or when that is
// asked for.
type fileToken struct {
	latest latest[string]
	path   string
	// held belongs to whoever reads; nil until the file was read.
	held *livefile.Value[string]
}

func newFileToken(path string) *fileToken {
	f := &fileToken{path: path}
	f.latest.read = f.read
	return f
}

// token gives what the file holds; now looks even if it was read just now.
func (f *fileToken) token(ctx context.Context, now bool) (string, error) {
	token, err := f.latest.get(ctx, now)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	return token, nil
}

func (f *fileToken) read() (string, error) {
	if f.held != nil {
		renew(f.held)
		return f.held.Get(), nil
	}
	held, err := livefile.Open(func(c [][]byte) (string, error) {
		token := strings.TrimSpace(string(c[0]))
		if token == "" || strings.ContainsAny(token, " \t\r\n") {
			return "", errors.New("it does not hold one token and nothing else")
		}
		return token, nil
	}, f.path)
	if err != nil {
		return "", err
	}
	f.held = held
	return held.Get(), nil
}

// What is spoken on a connection: one for a stream becomes that by an upgrade.
const (
	forStream = "http/1.1"
	forUnary  = "h2"
)

// connect opens a connection to addr, under TLS where there is any; protocol is
// what is to be spoken on it.
func (s *settings) connect(ctx context.Context, addr, protocol string) (net.Conn, error) {
	nc, err := s.dial(ctx, addr)
	if err != nil || s.tls == nil {
		return nc, err
	}
	t, err := s.secure(ctx, nc, addr, protocol)
	if err != nil {
		_ = nc.Close() // it was never used
		return nil, fmt.Errorf("TLS with %s: %w", addr, err)
	}
	return t, nil
}

func (s *settings) secure(ctx context.Context, nc net.Conn, addr, protocol string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	c, err := s.tls(ctx, host)
	if err != nil {
		return nil, err
	}
	c.NextProtos = []string{protocol}
	t := tls.Client(nc, c)
	if err := t.HandshakeContext(ctx); err != nil {
		var plain tls.RecordHeaderError
		if errors.As(err, &plain) {
			return nil, fmt.Errorf("%w; does the node speak TLS (--tls-cert)?", err)
		}
		return nil, err
	}
	if t.ConnectionState().NegotiatedProtocol != protocol {
		return nil, fmt.Errorf("the other side does not speak %s; is this the API of a node, or a proxy without it?", protocol)
	}
	return t, nil
}

// scheme begins the URL of a node.
func (s *settings) scheme() string {
	if s.tls != nil {
		return "https://"
	}
	return "http://"
}

// authorization is the header that shows the token; empty without one. now: as
// it is this moment.
func (s *settings) authorization(ctx context.Context, now bool) (string, error) {
	if s.token == nil {
		return "", nil
	}
	token, err := s.token(ctx, now)
	if err != nil {
		return "", err
	}
	return "Bearer " + token, nil
}

// bearer sends unary calls with the token.
type bearer struct {
	http *http.Client
	set  *settings
}

// Do sends a request that Connect has made for this one sending.
func (b bearer) Do(r *http.Request) (*http.Response, error) {
	header, err := b.set.authorization(r.Context(), false)
	if err != nil {
		return nil, &dialError{err}
	}
	if header != "" {
		r.Header.Set("Authorization", header)
	}
	return b.http.Do(r)
}

// show notes what a new connection shows.
func (c *Client) show(header string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown != "" && c.shown != header {
		c.renewals.Add(1)
	}
	c.shown = header
}

// renewed reports whether a call that was refused shall be sent once more: its
// connection has shown a token that is no longer the one to show. renewals is
// what they were before it was sent.
func (c *Client) renewed(ctx context.Context, err error, renewals uint64) bool {
	if c.set.token == nil || !errors.Is(err, offset.ErrDenied) {
		return false
	}
	header, fault := c.set.authorization(ctx, true)
	if fault != nil {
		return false
	}
	c.mu.Lock()
	if c.renewals.Load() != renewals { // another call has found that out
		c.mu.Unlock()
		return true
	}
	if header == c.shown || c.closed {
		c.mu.Unlock()
		return false
	}
	c.renewals.Add(1)
	c.shown = header
	cn := c.cur
	if c.cur = nil; cn != nil {
		c.old = append(c.old, cn)
	}
	c.mu.Unlock()
	if cn != nil {
		cn.Retire()
		c.disconnected(cn)
	}
	return true
}
