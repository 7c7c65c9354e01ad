package server

import (
	"context"
	"crypto/x509"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// Callers identifies callers by what they show; auth.Callers is one. Its
// methods are called from many goroutines at once, once for each unary call.
type Callers interface {
	// Generation moves when the same token may belong to somebody else, or to nobody.
	Generation() uint64
	// Token gives whose token that is; the error wraps offset.ErrDenied.
	Token(token string) (name string, err error)
	// Certificate gives whose certificate the first of the chain is. known is
	// false where certificates say nothing; the error wraps offset.ErrDenied.
	Certificate(chain []*x509.Certificate) (name string, known bool, err error)
}

// identity is the name of a caller, or why it cannot be told, as long as
// Callers.Generation does not move.
type identity struct {
	generation uint64
	name       string
	err        error
}

// caller is the sender of one HTTP request, which a stream is as well. A stream may
// live longer than its caller's token, so the caller is identified again whenever
// its identity may have changed.
type caller struct {
	callers Callers // nil: nobody is known
	refusal error   // what each call is answered with; nil: calls are served
	from    string
	call    string // Service/Method
	// authorization is the header, chain the certificates that the connection showed.
	authorization string
	chain         []*x509.Certificate
	// byChain is the identity that the chain gave, kept for all requests of the connection.
	byChain *atomic.Pointer[identity]
	known   atomic.Pointer[identity]
}

type (
	callerKey  struct{} // of the caller of a request
	chainKey   struct{} // of the identity that is kept for a connection
	refusalKey struct{} // of the reason that a connection is refused for
)

// remember gives a connection a place to keep its identity in, or keeps the reason
// that it is refused for.
func remember(ctx context.Context, refusal error) context.Context {
	if refusal != nil {
		return context.WithValue(ctx, refusalKey{}, refusal)
	}
	return context.WithValue(ctx, chainKey{}, new(atomic.Pointer[identity]))
}

func (s *Server) callerOf(r *http.Request) *caller {
	c := &caller{callers: s.cfg.Callers, from: r.RemoteAddr, call: strings.TrimPrefix(r.URL.Path, apiPrefix), authorization: r.Header.Get("Authorization")}
	if r.TLS != nil {
		c.chain = r.TLS.PeerCertificates
	}
	c.refusal, _ = r.Context().Value(refusalKey{}).(error)
	c.byChain, _ = r.Context().Value(chainKey{}).(*atomic.Pointer[identity])
	if c.byChain == nil {
		c.byChain = new(atomic.Pointer[identity])
	}
	return c
}

// callerIn gives the caller that ctx belongs to.
func callerIn(ctx context.Context) *caller {
	if c, ok := ctx.Value(callerKey{}).(*caller); ok {
		return c
	}
	return &caller{} // nobody, from nowhere
}

// principal identifies the sender of a request, and reports where that fails.
func (s *Server) principal(who *caller) (auth.Principal, error) {
	p, err := who.principal()
	if err != nil && who.refusal == nil {
		s.cfg.Denied(who.from, who.call, err)
	}
	return p, err
}

// principal identifies the caller; the error wraps offset.ErrDenied, or is why the
// whole connection is refused. Credentials that are wrong are refused, and not
// treated as if there were none.
func (c *caller) principal() (auth.Principal, error) {
	if c.refusal != nil {
		return auth.Principal{}, c.refusal
	}
	if c.callers == nil {
		return auth.Anonymous(c.from), nil
	}
	generation := c.callers.Generation() // before the look-up that it belongs to
	id := c.known.Load()
	if id == nil || id.generation != generation {
		id = c.identify(generation)
		c.known.Store(id)
	}
	return auth.Principal{Name: id.name, From: c.from}, id.err
}

func (c *caller) identify(generation uint64) *identity {
	if c.authorization == "" {
		return c.fromChain(generation)
	}
	id := &identity{generation: generation}
	scheme, token, _ := strings.Cut(c.authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		id.err = offset.Errorf(offset.ErrDenied, "the Authorization header is not of the form: Bearer TOKEN")
		return id
	}
	id.name, id.err = c.callers.Token(strings.TrimSpace(token))
	return id
}

// fromChain verifies a certificate once, when its connection is new. No connection
// ends because its certificate has expired since, or its CA was withdrawn: callers
// that renew theirs in time would be cut off as well. What a policy no longer
// permits ends at once.
func (c *caller) fromChain(generation uint64) *identity {
	if len(c.chain) == 0 {
		return &identity{generation: generation, name: auth.AnonymousName}
	}
	if id := c.byChain.Load(); id != nil {
		return &identity{generation, id.name, id.err}
	}
	id := &identity{generation: generation}
	name, known, err := c.callers.Certificate(c.chain)
	switch {
	case err != nil:
		id.err = err
	case !known:
		id.name = auth.AnonymousName
	default:
		id.name = name
	}
	c.byChain.Store(id)
	return id
}
