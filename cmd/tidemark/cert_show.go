package main

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// certShowCmd shows certificates.
type certShowCmd struct {
	File string `arg:"" help:"A certificate, or a bundle, in PEM." type:"path"`
}

// certsResult is what a file holds.
type certsResult struct {
	Certificates []*certRow `json:"certificates"`
}

func (r *certsResult) table(t *table) {
	for _, c := range r.Certificates {
		c.table(t)
	}
}

// Run reads and prints; one that has expired is exit code 5.
func (c *certShowCmd) Run(s *session) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	r, now, expired := &certsResult{}, time.Now(), 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		x, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return offset.Errorf(offset.ErrInvalid, "certificate %d of %s cannot be read: %v", len(r.Certificates)+1, shown(c.File), err)
		}
		row := rowOfCert(c.File, "", x, now)
		if row.left <= 0 {
			expired++
		}
		r.Certificates = append(r.Certificates, row)
	}
	if len(r.Certificates) == 0 {
		return offset.Errorf(offset.ErrInvalid, "%s holds no certificate in PEM", shown(c.File))
	}
	if err := s.print(r); err != nil {
		return err
	}
	if expired > 0 {
		return exitf(exitUnhealthy, "%s expired; make new ones with `tidemark cert`", plural(expired, "certificate has", "certificates have"))
	}
	return nil
}
