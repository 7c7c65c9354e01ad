// Package certs makes TLS of files that may be replaced while a program runs:
// a certificate with its key, and bundles of CA certificates. Each handshake
// uses what is current; connections that are open stay.
//
// Chains are verified here and not by crypto/tls, whose CAs are fixed with its
// configuration. Sessions are not resumed, since a resumed one would be taken
// on the word of an earlier CA.
package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/internal/livefile"
)

// Pair is a certificate and its key, in files.
type Pair struct {
	*livefile.Value[*tls.Certificate]
}

// OpenPair reads a certificate, followed by the intermediate ones, and its key, both
// PEM. A later pair that does not fit together, is not valid now, or
// that one of the demands refuses, does not take its place.
func OpenPair(certFile, keyFile string, demands ...func(leaf *x509.Certificate) error) (Pair, error) {
	v, err := livefile.Open(func(c [][]byte) (*tls.Certificate, error) {
		pair, err := parsePair(c[0], c[1])
		for _, demand := range demands {
			if err == nil {
				err = demand(pair.Leaf)
			}
		}
		return pair, err
	}, certFile, keyFile)
	return Pair{v}, err
}

func parsePair(certPEM, keyPEM []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("certificate and key cannot be used: %w", err)
	}
	if pair.Leaf == nil {
		if pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
			return nil, err
		}
	}
	switch now := time.Now(); {
	case now.After(pair.Leaf.NotAfter):
		return nil, fmt.Errorf("the certificate has expired on %s", pair.Leaf.NotAfter.UTC().Format(time.DateTime))
	case now.Before(pair.Leaf.NotBefore):
		return nil, fmt.Errorf("the certificate is valid only from %s on; is the clock right?", pair.Leaf.NotBefore.UTC().Format(time.DateTime))
	}
	return &pair, nil
}

// KeyIsOpen reports whether others than its owner and group can read a file.
func KeyIsOpen(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().Perm()&0o004 != 0
}

// CAs are a bundle of CA certificates, in a file.
type CAs struct {
	*livefile.Value[*x509.CertPool]
}

// OpenCAs reads a bundle in PEM; it must hold a certificate.
func OpenCAs(file string) (CAs, error) {
	v, err := livefile.Open(func(c [][]byte) (*x509.CertPool, error) { return parseCAs(c[0]) }, file)
	return CAs{v}, err
}

func parseCAs(text []byte) (*x509.CertPool, error) {
	pool, n := x509.NewCertPool(), 0
	block, rest := pem.Decode(text)
	for ; block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("a PEM block is a %q; a bundle holds certificates alone", block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d cannot be read: %w", n+1, err)
		}
		pool.AddCert(c)
		n++
	}
	if n == 0 {
		return nil, errors.New("it holds no certificate in PEM")
	}
	if bytes.Contains(rest, []byte("-----BEGIN")) {
		return nil, fmt.Errorf("what follows certificate %d is not a whole one", n)
	}
	return pool, nil
}

// Verify checks a chain, the leaf first, for one usage; host, if it is not
// empty, must be among its names. The error says what the certificate holds.
func (c CAs) Verify(chain []*x509.Certificate, host string, usage x509.ExtKeyUsage) error {
	if len(chain) == 0 {
		return errors.New("the other side shows no certificate")
	}
	between := x509.NewCertPool()
	for _, x := range chain[1:] {
		between.AddCert(x)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: c.Get(), Intermediates: between, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
	if err != nil {
		return fmt.Errorf("the certificate of %s: %.500s", Describe(chain[0]), err) // it may repeat names, too
	}
	return nil
}

// Describe names a certificate for a log: its subject and its first names.
// The peer that shows one has chosen them, and as many as fit into a handshake, so
// that the text is bounded.
func Describe(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	more := ""
	if n := len(names) - describedNames; n > 0 {
		names, more = names[:describedNames], fmt.Sprintf(" and %d more", n)
	}
	for i := range names {
		names[i] = short(names[i])
	}
	return fmt.Sprintf("%q with the names %q%s", short(c.Subject.CommonName), names, more)
}

// describedNames is how many names Describe gives, describedBytes how much of each.
const (
	describedNames = 8
	describedBytes = 100
)

func short(s string) string {
	if len(s) <= describedBytes {
		return s
	}
	return s[:describedBytes] + "..."
}
