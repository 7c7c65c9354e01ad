package main

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/auth/certs/certstest"
)

// TestCertificatesThatCannotServe end the start, with nothing written and a
// sentence that says what to do.
func TestCertificatesThatCannotServe(t *testing.T) {
	ca := certstest.New(t)
	member, client, old := ca.Member("n1"), ca.Client("app"), ca.MemberFor("old", certs.MemberRole, -time.Minute)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a client's, for members": {[]string{"--tls-cert", client.Cert, "--tls-key", client.Key, "--peer-tls-ca", ca.File}, "no other member would let in"},
		"expired":                 {[]string{"--tls-cert", old.Cert, "--tls-key", old.Key}, "has expired"},
		"of another key":          {[]string{"--tls-cert", client.Cert, "--tls-key", old.Key}, "cannot be used"},
		"a CA that is a key":      {[]string{"--tls-cert", member.Cert, "--tls-key", member.Key, "--peer-tls-ca", client.Key}, "holds certificates alone"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		r := try(t, nil, append([]string{"--name", "n1", "--data", data, "--listen", "127.0.0.1:0", "--peer-listen", "127.0.0.1:0"}, c.args...)...)
		if r.code != exitWrong || !strings.Contains(r.errs, c.want) {
			t.Errorf("%s: exit %d, %s", name, r.code, r.errs)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("%s: the data folder was made", name)
		}
	}
}

// TestAMembersCertificateStaysOne: a pair that others would not let in takes no
// other's place while the member runs, whether clients are shown it as well or not.
func TestAMembersCertificateStaysOne(t *testing.T) {
	for name, of := range map[string]func(f certstest.Files, ca *certstest.CA) options{
		"for both": func(f certstest.Files, ca *certstest.CA) options {
			return options{TLSCert: f.Cert, TLSKey: f.Key, PeerTLSCA: ca.File}
		},
		"for members alone": func(f certstest.Files, ca *certstest.CA) options {
			return options{PeerTLSCert: f.Cert, PeerTLSKey: f.Key, PeerTLSCA: ca.File}
		},
	} {
		ca := certstest.New(t)
		s := &settings{options: of(ca.Member("n1"), ca)}
		s.Listen, s.PeerListen = "127.0.0.1:0", "127.0.0.1:0"
		if err := s.checkSecurity(); err != nil {
			t.Fatal(err)
		}
		x, err := openSecrets(s, hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		before := x.members.Pair.Get()
		ca.Client("n1") // in the place of the member's
		for range 2 {
			_, _ = x.members.Pair.Check()
		}
		if fault := strings.Join(x.faults(), " "); x.members.Pair.Get() != before || len(x.faults()) != 1 {
			t.Errorf("%s: another pair is in use, %q", name, fault)
		}
		ca.Member("n1")
		for range 2 {
			_, _ = x.members.Pair.Check()
		}
		if x.members.Pair.Get() == before || len(x.faults()) != 0 {
			t.Errorf("%s: the new pair is not in use, %q", name, x.faults())
		}
	}
}

// TestThePageNamesNoCallers: who reaches the port sees that a policy has a
// mistake, and none of the names in it.
func TestThePageNamesNoCallers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	certstest.Write(t, path, []byte("rules: [{callers: [a], may: [read]}]"))
	x, err := openSecrets(&settings{options: options{Policy: path}}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	certstest.Write(t, path, []byte("rules: [{callers: [a], may: [read], groups: ['secret-name*x']}]"))
	for range 2 {
		_, _ = x.files[0].Check()
	}
	if page := strings.Join(x.faults(), "\n"); !strings.Contains(page, path) || strings.Contains(page, "secret-name") {
		t.Errorf("shown: %q", page)
	}
}

// TestAddressesOfOthersNeedSecurity: with everything there, or --insecure, a
// node may listen where others reach it.
func TestAddressesOfOthersNeedSecurity(t *testing.T) {
	o := options{Listen: ":7411", PeerListen: "n1.example:7412", OpsListen: "10.0.0.1:7413"}
	secured := o
	secured.TLSCert, secured.TLSKey, secured.PeerTLSCA, secured.Tokens, secured.Policy = "c", "k", "ca", "t", "p"
	for name, c := range map[string]struct {
		change  func(*options)
		refused string
	}{
		"everything":     {func(*options) {}, ""},
		"no certificate": {func(o *options) { o.TLSCert, o.TLSKey, o.PeerTLSCert, o.PeerTLSKey = "", "", "c", "k" }, "--listen"},
		"no rights":      {func(o *options) { o.Tokens, o.Policy = "", "" }, "--listen"},
		"nobody known":   {func(o *options) { o.Tokens = "" }, "--listen"},
		"no peers' CA":   {func(o *options) { o.PeerTLSCA = "" }, "--peer-listen"},
		"told to": {func(o *options) {
			*o = options{Listen: o.Listen, PeerListen: o.PeerListen, OpsListen: o.OpsListen, Insecure: true}
		}, ""},
		"loopback by name": {func(o *options) { *o = options{Listen: "localhost:1", PeerListen: "[::1]:2", OpsListen: "127.9.9.9:3"} }, ""},
		"profiles":         {func(o *options) { o.Pprof = true }, "--pprof"},
		"pages alone":      {func(o *options) { *o = options{Listen: "localhost:1", PeerListen: "[::1]:2", OpsListen: o.OpsListen} }, "--ops-listen"},
	} {
		s := &settings{options: secured}
		c.change(&s.options)
		err := s.checkSecurity()
		if (err == nil) != (c.refused == "") || err != nil && !strings.HasPrefix(err.Error(), c.refused+" ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPagesOverTLS: the port of the operators speaks TLS where the API does,
// and whoever speaks none is told so.
func TestPagesOverTLS(t *testing.T) {
	f := certstest.New(t).Member("n1")
	p := spawn(t, dev(t, "--tls-cert", f.Cert, "--tls-key", f.Key, "--ops-listen", "127.0.0.1:0")...)
	await(t, "the addresses", func() bool {
		return listening.MatchString(p.text()) && opsListening.MatchString(p.text()) || p.gone()
	})
	for _, m := range [][]string{listening.FindStringSubmatch(p.text()), opsListening.FindStringSubmatch(p.text())} {
		if m == nil {
			t.Fatal("no address")
		}
		nc, err := tls.Dial("tcp", m[1], &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		if err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		if got := nc.ConnectionState(); got.NegotiatedProtocol != "h2" || got.Version != tls.VersionTLS13 {
			t.Errorf("%s: %q, TLS %x", m[1], got.NegotiatedProtocol, got.Version)
		}
		_ = nc.Close()
		if status, text, err := get("http://" + m[1] + "/readyz"); err != nil || status != 400 || !strings.Contains(text, "HTTPS") {
			t.Errorf("in cleartext: %d %q %v", status, text, err)
		}
	}
}
