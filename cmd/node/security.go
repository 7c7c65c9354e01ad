package main

import (
	"net"

	"github.com/tidemark-mq/tidemark/auth/certs"
)

// checkSecurity refuses what does not go together, and addresses at which
// others could read along, or do everything, unless that is what is meant.
func (s *settings) checkSecurity() error {
	if s.PeerTLSCert == "" && s.PeerTLSKey == "" {
		s.PeerTLSCert, s.PeerTLSKey = s.TLSCert, s.TLSKey
	}
	fillString(&s.PeerTLSRole, certs.MemberRole)
	switch {
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return wrong("--tls-cert", "and --tls-key go together; one of them is missing")
	case (s.PeerTLSCert == "") != (s.PeerTLSKey == ""):
		return wrong("--peer-tls-cert", "and --peer-tls-key go together; one of them is missing")
	case s.TLSClientCA != "" && s.TLSCert == "":
		return wrong("--tls-client-ca", "needs --tls-cert and --tls-key: without TLS nobody shows a certificate")
	case s.PeerTLSCA != "" && s.PeerTLSCert == "":
		return wrong("--peer-tls-ca", "needs --tls-cert and --tls-key, or --peer-tls-cert and --peer-tls-key: members show one another a certificate")
	case s.PeerTLSCA == "" && s.PeerTLSCert != s.TLSCert:
		return wrong("--peer-tls-cert", "needs --peer-tls-ca, by which the other members' certificates are verified")
	case (s.Tokens != "" || s.TLSClientCA != "") && s.Policy == "":
		return wrong("--policy", "is missing: with --tokens or --tls-client-ca nobody may do anything that it does not say. The smallest one that lets NAME do everything has these two lines: rules: / - {callers: [NAME], may: [admin]}")
	}
	return s.checkExposure()
}

// checkExposure is for addresses that other machines reach.
func (s *settings) checkExposure() error {
	const ways = "; make certificates (tidemark cert --help; docs/security.md has the whole way), listen on 127.0.0.1, or, on a network whose every machine you trust, add --insecure"
	authenticated := s.Policy != "" && (s.Tokens != "" || s.TLSClientCA != "")
	switch {
	case s.Insecure:
		return nil
	case exposed(s.Listen) && s.TLSCert == "":
		return wrong("--listen", "is %q, which other machines reach, and there is no TLS (--tls-cert, --tls-key)%s", s.Listen, ways)
	case exposed(s.Listen) && !authenticated:
		return wrong("--listen", "is %q, which other machines reach, and whoever does may do everything (--tokens or --tls-client-ca, and --policy)%s", s.Listen, ways)
	case exposed(s.PeerListen) && s.PeerTLSCA == "":
		return wrong("--peer-listen", "is %q, which other machines reach, and whoever does may pass for a member (--peer-tls-ca)%s", s.PeerListen, ways)
	case exposed(s.OpsListen) && s.TLSCert == "":
		return wrong("--ops-listen", "is %q, which other machines reach, and there is no TLS (--tls-cert, --tls-key)%s", s.OpsListen, ways)
	case exposed(s.OpsListen) && s.Pprof:
		return wrong("--pprof", "lets anyone who reaches --ops-listen %q keep this member busy, and asks for no credentials; have --ops-listen on 127.0.0.1, or, on a network whose every machine you trust, add --insecure", s.OpsListen)
	}
	return nil
}

// exposed tells whether an address is listened on that is not this machine's
// own: a name may be anything, but for localhost.
func exposed(address string) bool {
	if address == "" {
		return false
	}
	host, _, err := net.SplitHostPort(address)
	return err != nil || !isLoopback(host)
}
