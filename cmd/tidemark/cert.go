package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/offset"
)

// certCmd makes certificates for clusters without a CA of another kind. None of
// it asks a cluster.
type certCmd struct {
	CA     certCACmd     `cmd:"" name:"ca" help:"Make a CA: ca.crt for every node and client, ca.key only for whoever makes certificates."`
	Node   certNodeCmd   `cmd:"" help:"Make a member's certificate, signed by the CA in the folder."`
	Client certClientCmd `cmd:"" help:"Make a caller's certificate, signed by the CA in the folder."`
	Show   certShowCmd   `cmd:"" help:"Show what the certificates in a file say."`
}

// certCACmd makes a CA.
type certCACmd struct {
	Dir  string `arg:"" help:"Folder for ca.crt and ca.key; it is made if it is not there." type:"path"`
	Name string `help:"Name of the CA." default:"Tidemark CA"`
	Days int    `help:"How long it is valid." default:"3650" placeholder:"N"`
}

// certNodeCmd makes the certificate of a member.
type certNodeCmd struct {
	Name  string   `arg:"" help:"Name of the member; the files are NAME.crt and NAME.key."`
	Hosts []string `arg:"" help:"Names and addresses by which clients and other members reach it: the hosts of --advertise and --peer-advertise." placeholder:"HOST"`
	Role  string   `help:"Role that marks it as a member's; --peer-tls-role of tidemarkd." default:"tidemark:member" placeholder:"NAME"`
	Dir   string   `help:"Folder that holds ca.crt and ca.key, and that the files are made in." default:"." type:"path" placeholder:"DIR"`
	Days  int      `help:"How long it is valid." default:"365" placeholder:"N"`
}

// certClientCmd makes the certificate of a caller.
type certClientCmd struct {
	Name string `arg:"" help:"Name of the caller, as the policy has it; the files are NAME.crt and NAME.key."`
	Dir  string `help:"Folder that holds ca.crt and ca.key, and that the files are made in." default:"." type:"path" placeholder:"DIR"`
	Days int    `help:"How long it is valid." default:"365" placeholder:"N"`
}

// certRow is one certificate.
type certRow struct {
	Cert  string   `json:"cert"`
	Key   string   `json:"key,omitempty"`
	Name  string   `json:"name"`
	Names []string `json:"names,omitempty"`
	CA    bool     `json:"ca,omitempty"`
	// Until is when it ends, Left how long that is.
	Until time.Time `json:"until"`
	left  time.Duration
}

func rowOfCert(cert, key string, c *x509.Certificate, now time.Time) *certRow {
	r := &certRow{Cert: cert, Key: key, Name: c.Subject.CommonName, CA: c.IsCA, Until: c.NotAfter.UTC(), left: c.NotAfter.Sub(now)}
	r.Names = append(r.Names, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		r.Names = append(r.Names, ip.String())
	}
	for _, u := range c.URIs {
		r.Names = append(r.Names, u.String())
	}
	return r
}

func (r *certRow) table(t *table) {
	t.line("certificate  %s", r.Cert)
	if r.Key != "" {
		t.line("key          %s", r.Key)
	}
	t.line("name         %s", shown(r.Name))
	for _, n := range r.Names {
		t.line("             %s", shown(n))
	}
	t.line("valid until  %s", r.until())
}

func (r *certRow) until() string {
	if r.left <= 0 {
		return r.Until.Format(time.DateTime) + " UTC: it has expired"
	}
	return fmt.Sprintf("%s UTC, %d days from now", r.Until.Format(time.DateTime), int(r.left.Hours()/24+0.5))
}

// Run makes it.
func (c *certCACmd) Run(s *session) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	return s.makeCert(c.Dir, "ca", c.Days, func(life time.Duration) (*certs.Issued, error) {
		return certs.NewAuthority(c.Name, life)
	})
}

// Run makes it.
func (c *certNodeCmd) Run(s *session) error {
	for _, host := range c.Hosts {
		if net.ParseIP(host) == nil && (host == "" || strings.ContainsAny(host, ":/[]@ ")) {
			return offset.Errorf(offset.ErrInvalid, "%s is neither a name nor an address of a host; leave scheme, port and brackets out", shown(host))
		}
	}
	return s.makeCert(c.Dir, c.Name, c.Days, func(life time.Duration) (*certs.Issued, error) {
		a, err := authority(c.Dir)
		if err != nil {
			return nil, err
		}
		return a.Member(c.Name, c.Hosts, c.Role, life)
	})
}

// Run makes it.
func (c *certClientCmd) Run(s *session) error {
	if c.Name == auth.AnonymousName {
		return offset.Errorf(offset.ErrInvalid, "%s is the name of callers without a token or certificate; choose another", c.Name)
	}
	return s.makeCert(c.Dir, c.Name, c.Days, func(life time.Duration) (*certs.Issued, error) {
		a, err := authority(c.Dir)
		if err != nil {
			return nil, err
		}
		return a.Client(c.Name, life)
	})
}

// certName is a name that is a file's as well.
var certName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// mostDays bounds the life of a certificate.
const mostDays = 36500

// makeCert writes a certificate and its key where there are none yet.
func (s *session) makeCert(dir, name string, days int, issue func(life time.Duration) (*certs.Issued, error)) error {
	switch {
	case !certName.MatchString(name):
		return offset.Errorf(offset.ErrInvalid, "the name %s is to be that of files: 1 to 64 letters, digits, '.', '-' and '_' are allowed", shown(name))
	case days < 1 || days > mostDays:
		return offset.Errorf(offset.ErrInvalid, "--days is %d; 1 to %d are allowed", days, mostDays)
	}
	cert, key := filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	for _, path := range []string{cert, key} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return exitf(exitRefused, "%s is there already, and is not replaced; name another folder, or move it away", path)
		}
	}
	made, err := issue(time.Duration(days) * 24 * time.Hour)
	if err != nil {
		return err
	}
	if err := writeNew(key, made.Key); err != nil {
		return err
	}
	if err := writeNew(cert, made.Cert); err != nil {
		return errors.Join(err, os.Remove(key)) // else the next run would be refused
	}
	s.changed = true
	return s.print(rowOfCert(cert, key, made.Certificate, time.Now()))
}

// writeNew makes a file that only its owner may read, whole or not at all; one
// that is there stays.
func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("making the file: %w", err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(path))
	}
	return nil
}

// authority opens the CA of a folder.
func authority(dir string) (*certs.Authority, error) {
	cert, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("the CA: %w; `tidemark cert ca` makes one", err)
	}
	key, err := os.ReadFile(filepath.Join(dir, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("the CA's key: %w", err)
	}
	a, err := certs.OpenAuthority(cert, key)
	if err != nil {
		return nil, offset.Errorf(offset.ErrInvalid, "%v", err)
	}
	return a, nil
}
