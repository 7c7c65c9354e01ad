package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDescribeIsBounded: a stranger's certificate may hold whatever fits into a
// handshake, and is named in a log.
func TestDescribeIsBounded(t *testing.T) {
	c := &x509.Certificate{Subject: pkix.Name{CommonName: strings.Repeat("\x00", 100_000)}}
	for i := range 10_000 {
		c.DNSNames = append(c.DNSNames, fmt.Sprint(strings.Repeat("\"", 1000), i))
	}
	got := Describe(c)
	if len(got) > 8<<10 || !strings.Contains(got, "9992 more") {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
	c = &x509.Certificate{Subject: pkix.Name{CommonName: "n1"}, DNSNames: []string{"a", "b"}}
	if got := Describe(c); got != `"n1" with the names ["a" "b"]` {
		t.Error(got)
	}
}

// TestRefusalsOfCertificatesAreBounded: neither are the names of those behind
// the first, which the reason for a refusal may repeat.
func TestRefusalsOfCertificatesAreBounded(t *testing.T) {
	authority := func(name string) (*Issued, *Authority) {
		made, err := NewAuthority(name, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		a, err := OpenAuthority(made.Cert, made.Key)
		if err != nil {
			t.Fatal(err)
		}
		return made, a
	}
	long := strings.Repeat("x", 50_000)
	_, mine := authority(long)
	shown, _ := authority(long) // of the same name, but another's key
	leaf, err := mine.Client("app", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	ours, _ := authority("ours")
	if err := os.WriteFile(file, ours.Cert, 0o600); err != nil {
		t.Fatal(err)
	}
	cas, err := OpenCAs(file)
	if err != nil {
		t.Fatal(err)
	}
	err = cas.Verify([]*x509.Certificate{leaf.Certificate, shown.Certificate}, "", x509.ExtKeyUsageClientAuth)
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("%.200v", err)
	}
}

// TestHalfABundle: of two CAs of which one is written half, neither is taken.
func TestHalfABundle(t *testing.T) {
	var text []byte
	for _, name := range []string{"old", "new"} {
		made, err := NewAuthority(name, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, made.Cert...)
	}
	if _, err := parseCAs(append(text, "\n# a remark\n"...)); err != nil {
		t.Error(err)
	}
	for _, cut := range []int{2, 30, 200} {
		if _, err := parseCAs(text[:len(text)-cut]); err == nil || !strings.Contains(err.Error(), "not a whole one") {
			t.Errorf("without the last %d bytes: %v", cut, err)
		}
	}
}
