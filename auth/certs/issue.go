package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"
)

// Issued is a new certificate and its key, in PEM.
type Issued struct {
	Certificate *x509.Certificate
	Cert, Key   []byte
}

// Authority is a CA for clusters that have no other. All its keys are ECDSA P-256.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// slack is how long before now a certificate is valid from, for clocks that
// differ.
const slack = time.Hour

// NewAuthority makes a CA, to be kept, and used by OpenAuthority.
func NewAuthority(name string, life time.Duration) (*Issued, error) {
	return issue(nil, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(life),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	})
}

// OpenAuthority takes a CA's certificate and key, in PEM.
func OpenAuthority(cert, key []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the CA's certificate and key cannot be used: %w", err)
	}
	private, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, errors.New("the CA's key is not ECDSA")
	case !leaf.IsCA:
		return nil, fmt.Errorf("the certificate of %s is not that of a CA", Describe(leaf))
	case time.Now().After(leaf.NotAfter):
		return nil, fmt.Errorf("the CA's certificate has expired on %s; make another CA", leaf.NotAfter.UTC().Format(time.DateTime))
	}
	return &Authority{leaf, private}, nil
}

// Member issues the certificate of a member: for its API and for other members,
// with the role. hosts are names and addresses by which clients and members reach it.
func (a *Authority) Member(name string, hosts []string, role string, life time.Duration) (*Issued, error) {
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	if u, err := url.Parse(role); err == nil && u.Scheme != "" {
		t.URIs = []*url.URL{u}
	} else {
		t.DNSNames = append(t.DNSNames, role)
	}
	return issue(a.cert, a.key, t)
}

// Client issues the certificate of a caller of that name.
func (a *Authority) Client(name string, life time.Duration) (*Issued, error) {
	return issue(a.cert, a.key, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// issue draws a key and signs the certificate, by its own key where there is no
// parent; it is not valid for longer than the parent.
func issue(parent *x509.Certificate, by *ecdsa.PrivateKey, t *x509.Certificate) (*Issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if parent == nil {
		parent, by = t, key
	} else if t.NotAfter.After(parent.NotAfter) {
		t.NotAfter = parent.NotAfter
	}
	t.NotBefore = time.Now().Add(-slack)
	if t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), by)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Issued{
		Certificate: made,
		Cert:        pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}
