package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
)

// MemberRole is the name, among the URIs of its certificate, that says that
// its holder is a member of a cluster. It is the default of Members.Role.
const MemberRole = "tidemark:member"

// AnyRole, as a role, lets in every holder of a certificate of the CA.
const AnyRole = "none"

// Members is the TLS between members. Both sides show a certificate of the
// CAs, which holds the role among its URIs or DNS names: the same CA alone is not
// enough, since clients have certificates of it as well.
type Members struct {
	Pair Pair
	CAs  CAs
	// Role is what the certificate of a member holds, and no other's.
	Role string
}

// Server is the side that accepts.
func (m Members) Server() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		ClientAuth:             tls.RequireAnyClientCert, // verified by VerifyConnection, with the CAs as they are then
		SessionTicketsDisabled: true,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return m.Pair.Get(), nil },
		VerifyConnection: func(s tls.ConnectionState) error {
			return m.verify(s.PeerCertificates, "", x509.ExtKeyUsageClientAuth)
		},
	}
}

// Client is the side that dials the member at addr, host:port, whose host must
// be among the names of its certificate.
func (m Members) Client(addr string) *tls.Config {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		ServerName:         host,
		InsecureSkipVerify: true, // verified by VerifyConnection, with the CAs as they are then
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return m.Pair.Get(), nil
		},
		VerifyConnection: func(s tls.ConnectionState) error {
			if host == "" {
				return errors.New("it is not said which host is meant")
			}
			return m.verify(s.PeerCertificates, host, x509.ExtKeyUsageServerAuth)
		},
	}
}

func (m Members) verify(chain []*x509.Certificate, host string, usage x509.ExtKeyUsage) error {
	if err := m.CAs.Verify(chain, host, usage); err != nil {
		return err
	}
	if m.Role == AnyRole || HasRole(chain[0], m.Role) {
		return nil
	}
	return fmt.Errorf("the certificate of %s is no member's: %q is not among its URIs or DNS names", Describe(chain[0]), m.Role)
}

// HasRole reports whether a certificate holds a role.
func HasRole(c *x509.Certificate, role string) bool {
	for _, u := range c.URIs {
		if u.String() == role {
			return true
		}
	}
	return slices.Contains(c.DNSNames, role)
}
