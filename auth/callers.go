package auth

import (
	"crypto/x509"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/internal/livefile"
	"github.com/tidemark-mq/tidemark/offset"
)

// Callers identifies callers by their tokens or certificates. Its methods may be
// called from any goroutine; none touches a disk. The zero value knows
// nobody.
type Callers struct {
	// Tokens identifies them by token; nil: there are none.
	Tokens *livefile.Value[*Tokens]
	// CAs issue the certificates of clients; nil: there are none.
	CAs *certs.CAs
}

// Generation moves whenever a token may have passed to another caller, or to none.
func (c *Callers) Generation() uint64 {
	if c.Tokens == nil {
		return 0
	}
	return c.Tokens.Generation()
}

// Token gives whose token that is. The error wraps offset.ErrDenied, and does
// not hold the token.
func (c *Callers) Token(token string) (name string, err error) {
	if c.Tokens == nil {
		return "", offset.Errorf(offset.ErrDenied, "this node knows no tokens (--tokens); a token shown to it may have been meant for another cluster")
	}
	if name, ok := c.Tokens.Get().Name(token); ok {
		return name, nil
	}
	return "", offset.Errorf(offset.ErrDenied, "the token is not known here; it may have been revoked, or be that of another cluster")
}

// Certificate gives whose certificate the first of the chain is: its common
// name, or, without one, its only DNS name. known is false where this node knows
// nobody by certificate: then what was shown says nothing. The error wraps
// offset.ErrDenied.
func (c *Callers) Certificate(chain []*x509.Certificate) (name string, known bool, err error) {
	if c.CAs == nil {
		return "", false, nil
	}
	if err := c.CAs.Verify(chain, "", x509.ExtKeyUsageClientAuth); err != nil {
		return "", true, offset.Errorf(offset.ErrDenied, "%v", err)
	}
	name = chain[0].Subject.CommonName
	if name == "" && len(chain[0].DNSNames) == 1 {
		name = chain[0].DNSNames[0]
	}
	if err := validateCaller(name); err != nil {
		return "", true, offset.Errorf(offset.ErrDenied, "the certificate of %s names no caller: %v", certs.Describe(chain[0]), err)
	}
	return name, true, nil
}
