// Package certstest makes certificates, in files, for tests.
package certstest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth/certs"
)

// CA is a CA in a folder of the test.
type CA struct {
	t         testing.TB
	authority *certs.Authority
	// Dir holds the files, File the CA's certificate.
	Dir, File string
}

// Files are a certificate and its key.
type Files struct{ Cert, Key string }

// New makes a CA.
func New(t testing.TB) *CA {
	t.Helper()
	return In(t, t.TempDir(), "ca")
}

// In makes a CA in a folder that is there, under a name of its own.
func In(t testing.TB, dir, name string) *CA {
	t.Helper()
	made, err := certs.NewAuthority(name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	a, err := certs.OpenAuthority(made.Cert, made.Key)
	if err != nil {
		t.Fatal(err)
	}
	c := &CA{t: t, authority: a, Dir: dir}
	c.File = c.put(name, made).Cert
	return c
}

func (c *CA) put(name string, made *certs.Issued) Files {
	c.t.Helper()
	f := Files{filepath.Join(c.Dir, name+".crt"), filepath.Join(c.Dir, name+".key")}
	Write(c.t, f.Key, made.Key)
	Write(c.t, f.Cert, made.Cert)
	return f
}

// Member issues a member's certificate for hosts, by default this machine's.
func (c *CA) Member(name string, hosts ...string) Files {
	c.t.Helper()
	return c.MemberFor(name, certs.MemberRole, time.Hour, hosts...)
}

// MemberFor is Member with another role, or another life, which may be over.
func (c *CA) MemberFor(name, role string, life time.Duration, hosts ...string) Files {
	c.t.Helper()
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1", "localhost"}
	}
	made, err := c.authority.Member(name, hosts, role, life)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.put(name, made)
}

// Client issues a caller's certificate.
func (c *CA) Client(name string) Files { return c.ClientFor(name, time.Hour) }

// ClientFor is Client with another life, which may be over.
func (c *CA) ClientFor(name string, life time.Duration) Files {
	c.t.Helper()
	made, err := c.authority.Client(name, life)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.put(name, made)
}

// Write replaces a file by a rename, as operators' tools do.
func Write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
