package certs

import (
	"bytes"
	"encoding/pem"
	"testing"
	"time"
)

// FuzzBundle: a bundle of CAs that is taken holds certificates, whole ones, and
// nothing else in PEM; a pair holds a certificate that is valid now.
func FuzzBundle(f *testing.F) {
	made, err := NewAuthority("ca", time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	old, err := NewAuthority("old", -time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(made.Cert, made.Key)
	f.Add(append(bytes.Clone(made.Cert), old.Cert...), made.Key)
	f.Add(append(bytes.Clone(made.Cert), made.Key...), made.Key)
	f.Add(append(bytes.Clone(made.Cert), "-----BEGIN CERTIFICATE-----\nAAAA"...), []byte{})
	f.Add(old.Cert, old.Key)
	f.Fuzz(func(t *testing.T, text, key []byte) {
		if _, err := parseCAs(text); err == nil {
			block, rest := pem.Decode(text)
			if block == nil {
				t.Fatal("a bundle without a certificate was taken")
			}
			for ; block != nil; block, rest = pem.Decode(rest) {
				if block.Type != "CERTIFICATE" {
					t.Fatalf("a bundle with a %q was taken", block.Type)
				}
			}
			if bytes.Contains(rest, []byte("-----BEGIN")) {
				t.Fatal("half a bundle was taken")
			}
		}
		if pair, err := parsePair(text, key); err == nil && (pair.Leaf == nil || time.Now().After(pair.Leaf.NotAfter)) {
			t.Fatal("a pair that is not valid was taken")
		}
	})
}
