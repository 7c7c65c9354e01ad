package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/internal/livefile"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// secrets are what the files of certificates, tokens and rights hold, and
// follow. What is not configured is nil.
type secrets struct {
	pair    *certs.Pair
	members *certs.Members
	callers *auth.Callers
	policy  auth.Policy
	files   []livefile.File
}

// openSecrets reads all files; one that cannot be used ends the start.
func openSecrets(s *settings, log hclog.Logger) (*secrets, error) {
	out := &secrets{}
	if s.TLSCert != "" {
		role := certs.AnyRole
		if s.PeerTLSCA != "" && s.onePair() {
			role = s.PeerTLSRole
		}
		pair, err := openPair("--tls-cert", s.TLSCert, s.TLSKey, role, log)
		if err != nil {
			return nil, err
		}
		out.pair = pair
		out.follow(pair)
	}
	if err := out.openMembers(s, log); err != nil || s.Policy == "" {
		return out, err
	}
	rules, err := auth.OpenRules(s.Policy)
	if err != nil {
		return nil, wrong("--policy", "%w", err)
	}
	out.policy, out.callers = rules, &auth.Callers{}
	out.follow(rules)
	return out, out.openCallers(s)
}

func (x *secrets) openCallers(s *settings) error {
	if s.Tokens != "" {
		tokens, err := auth.OpenTokens(s.Tokens)
		if err != nil {
			return wrong("--tokens", "%w", err)
		}
		x.callers.Tokens = tokens
		x.follow(tokens)
	}
	if s.TLSClientCA != "" {
		cas, err := certs.OpenCAs(s.TLSClientCA)
		if err != nil {
			return wrong("--tls-client-ca", "%w", err)
		}
		x.callers.CAs = &cas
		x.follow(cas)
	}
	return nil
}

// openMembers reads what members show one another; where it is the pair of the
// API as well, there is one.
func (x *secrets) openMembers(s *settings, log hclog.Logger) error {
	if s.PeerTLSCA == "" {
		return nil
	}
	pair := x.pair
	if !s.onePair() {
		var err error
		if pair, err = openPair("--peer-tls-cert", s.PeerTLSCert, s.PeerTLSKey, s.PeerTLSRole, log); err != nil {
			return err
		}
		x.follow(pair)
	}
	cas, err := certs.OpenCAs(s.PeerTLSCA)
	if err != nil {
		return wrong("--peer-tls-ca", "%w", err)
	}
	x.follow(cas)
	if s.PeerTLSRole == certs.AnyRole {
		log.Warn("--peer-tls-role none: anyone with a certificate of the CA, clients too, passes for a member", "ca", s.PeerTLSCA)
	}
	x.members = &certs.Members{Pair: *pair, CAs: cas, Role: s.PeerTLSRole}
	return nil
}

// onePair tells whether members are shown the certificate that clients are.
func (s *settings) onePair() bool { return s.PeerTLSCert == s.TLSCert && s.PeerTLSKey == s.TLSKey }

// openPair reads a pair whose certificate, now and whenever it is replaced, must
// hold the role.
func openPair(option, cert, key, role string, log hclog.Logger) (*certs.Pair, error) {
	pair, err := certs.OpenPair(cert, key, func(leaf *x509.Certificate) error {
		if role == certs.AnyRole || certs.HasRole(leaf, role) {
			return nil
		}
		return fmt.Errorf("the certificate is that of %s, which no other member would let in: %q is not among its URIs or DNS names; make one with `tidemark cert node`, or set --peer-tls-role", certs.Describe(leaf), role)
	})
	if err != nil {
		return nil, wrong(option, "%w", err)
	}
	if certs.KeyIsOpen(key) {
		log.Warn("every user of this machine can read the key; make it 0600", "file", key)
	}
	return &pair, nil
}

func (x *secrets) follow(f livefile.File) { x.files = append(x.files, f) }

// run follows the files until ctx is done.
func (x *secrets) run(ctx context.Context, log hclog.Logger) error {
	livefile.Follow(ctx, livefile.Every, func(f livefile.File, err error) {
		if err != nil {
			log.Error("a changed file cannot be used; what it held before stays in use", "files", f.Paths(), "error", oneLine(err.Error()))
			return
		}
		log.Info("a changed file is in use", "files", f.Paths())
	}, x.files...)
	return nil
}

// faults are the files whose content is not in use, one a line. They are shown
// to everyone who reaches the port, and why would repeat what a file holds.
func (x *secrets) faults() (lines []string) {
	for _, f := range x.files {
		if f.Fault() != nil {
			lines = append(lines, "not in use: what is now in "+strings.Join(f.Paths(), " and ")+"; the log says why")
		}
	}
	return lines
}

// metrics are the rows of what is followed.
func (x *secrets) metrics() []node.Metric {
	ends := 0.0
	if x.pair != nil {
		ends = float64(x.pair.Get().Leaf.NotAfter.Unix())
	}
	peerEnds := 0.0
	if x.members != nil {
		peerEnds = float64(x.members.Pair.Get().Leaf.NotAfter.Unix())
	}
	return []node.Metric{
		{Name: "tls_certificate_end_seconds", Help: "When the certificate that clients are shown ends, in seconds since 1970; 0 without TLS.", Value: ends},
		{Name: "peer_tls_certificate_end_seconds", Help: "When the certificate that members are shown ends, in seconds since 1970; 0 without TLS.", Value: peerEnds},
		{Name: "files_not_in_use", Help: "Files of certificates, tokens and rights whose content cannot be used, so that an earlier one is.", Value: float64(len(x.faults()))},
	}
}

// serve gives the API's port what there is.
func (x *secrets) serve(c *server.Config, denied func(from, call string, err error)) {
	if x.pair != nil {
		c.TLS = certs.Server(*x.pair)
	}
	if x.callers != nil {
		c.Callers = x.callers
	}
	c.Denied = denied
	c.Notes = x.faults
}
