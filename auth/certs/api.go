package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// Server is the TLS of an API port. Clients may show a certificate, which
// proves that they hold its key; its issuer is for the caller to verify, so that a
// fault in it can be answered in words, and is looked at again when the CAs change.
func Server(pair Pair) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS12,
		ClientAuth:             tls.RequestClientCert,
		SessionTicketsDisabled: true,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.Get(), nil },
	}
}

// Client is the TLS towards an API port at host, a name or address that must be
// among those of its certificate. It is verified by cas, or by the system's CAs
// where that is nil; pair, if it is not nil, identifies the client.
func Client(host string, cas *CAs, pair *Pair) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if cas != nil {
		c.InsecureSkipVerify = true // verified by VerifyConnection, with the CAs as they are then
		c.VerifyConnection = func(s tls.ConnectionState) error {
			if host == "" {
				return errors.New("it is not said whose certificate is expected")
			}
			return cas.Verify(s.PeerCertificates, host, x509.ExtKeyUsageServerAuth)
		}
	}
	if pair != nil {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.Get(), nil }
	}
	return c
}
