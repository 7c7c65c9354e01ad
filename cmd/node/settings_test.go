package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each wrong value ends the start with its option in the message, and nothing
// is written.
func TestWrongOptions(t *testing.T) {
	parent := t.TempDir()
	data := filepath.Join(parent, "data")
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	policy := writeFile(t, "rules: [{callers: [a], may: [read]}]\n")
	good := []string{"--name", "n1", "--data", data, "--listen", "127.0.0.1:0", "--peer-listen", "127.0.0.1:0"}
	for _, c := range []struct {
		name   string
		args   []string
		option string
		text   string
	}{
		{"no name", []string{"--name", ""}, "--name", "is missing"},
		{"name with a slash", []string{"--name", "a/b"}, "--name", "are allowed"},
		{"name with a newline", []string{"--name", "a\nb"}, "--name", `"a\nb"`},
		{"long name", []string{"--name", strings.Repeat("n", 65)}, "--name", "1 to 64"},
		{"no folder", []string{"--data", ""}, "--data", "is missing"},
		{"folder is a file", []string{"--data", file}, "--data", "is a file"},
		{"no parent", []string{"--data", filepath.Join(parent, "x", "y")}, "--data", "parent"},
		{"listen on all, advertise nothing", []string{"--listen", "0.0.0.0:0"}, "--advertise", "is missing"},
		{"listen on all by default", []string{"--listen", ":7411"}, "--advertise", "is missing"},
		{"the same for members", []string{"--peer-listen", "[::]:7412"}, "--peer-advertise", "is missing"},
		{"advertise a port alone", []string{"--advertise", ":7000"}, "--advertise", "nobody can connect to"},
		{"advertise the wildcard", []string{"--advertise", "0.0.0.0:7411"}, "--advertise", "nobody can connect to"},
		{"advertise port 0", []string{"--advertise", "h.example:0"}, "--advertise", "must not be 0"},
		{"members at the wildcard", []string{"--peer-advertise", "[::]:7412"}, "--peer-advertise", "nobody can connect to"},
		{"no port", []string{"--listen", "127.0.0.1"}, "--listen", "HOST:PORT"},
		{"port by name", []string{"--listen", "127.0.0.1:http"}, "--listen", "port must be a number"},
		{"port too large", []string{"--peer-listen", "127.0.0.1:70000"}, "--peer-listen", "port must be a number"},
		{"host with a blank", []string{"--advertise", "a b:1"}, "--advertise", "HOST:PORT"},
		{"one address twice", []string{"--listen", "127.0.0.1:7499", "--peer-listen", "127.0.0.1:7499"}, "--peer-listen", "and so is --listen"},
		{"profiles without operators", []string{"--pprof"}, "--pprof", "--ops-listen"},
		{"founders unreadable", []string{"--initial-cluster", "n1"}, "--initial-cluster", "n1"},
		{"founders without this one", []string{"--initial-cluster", "n2=h:7412"}, "--initial-cluster", "does not name this member"},
		{"founder twice", []string{"--initial-cluster", "n1=h:1,n1=h:2"}, "--initial-cluster", "twice"},
		{"two addresses for itself", []string{"--initial-cluster", "n1=h:7412", "--peer-advertise", "g:7412"}, "--peer-advertise", "make them the same"},
		{"loopback for members elsewhere", []string{"--initial-cluster", "n1=127.0.0.1:7412,n2=h2:7412"}, "--peer-advertise", "this machine alone"},
		{"loopback for clients elsewhere", []string{"--initial-cluster", "n1=h1:7412,n2=h2:7412", "--advertise", "localhost:7411"}, "--advertise", "this machine alone"},
		{"no connections", []string{"--limit-connections", "0"}, "--limit-connections", "1 to"},
		{"negative calls", []string{"--limit-calls=-1"}, "--limit-calls", "1 to"},
		{"too many groups", []string{"--limit-groups", "18446744073709551615"}, "--limit-groups", "1 to"},
		{"too few bytes", []string{"--limit-call-bytes", "1MiB"}, "--limit-call-bytes", "16MiB to"},
		{"no log", []string{"--snapshot-log-bytes", "0"}, "--snapshot-log-bytes", "1MiB to"},
		{"no time", []string{"--call-timeout", "0s"}, "--call-timeout", "1ms to"},
		{"too much time", []string{"--call-timeout", "2h"}, "--call-timeout", "to 1m0s"},
		{"no time to stop", []string{"--stop-timeout=-1s"}, "--stop-timeout", "to 1h"},
		{"prefix without number", []string{"--limit-prefix", "a"}, "--limit-prefix", "PREFIX=N"},
		{"prefix of nothing", []string{"--limit-prefix", "=5"}, "--limit-prefix", "PREFIX=N"},
		{"address of another machine", []string{"--listen", "192.0.2.1:7411", "--insecure"}, "--listen", "cannot be listened on"},
		{"clients without TLS", []string{"--listen", "192.0.2.1:7411"}, "--listen", "there is no TLS"},
		{"clients of a name", []string{"--listen", "h.example:7411"}, "--listen", "there is no TLS"},
		{"clients that are not asked", []string{"--listen", "192.0.2.1:7411", "--tls-cert", file, "--tls-key", file}, "--listen", "may do everything"},
		{"members without TLS", []string{"--peer-listen", "192.0.2.1:7412"}, "--peer-listen", "pass for a member"},
		{"operators without TLS", []string{"--ops-listen", "192.0.2.1:7413"}, "--ops-listen", "there is no TLS"},
		{"certificate without key", []string{"--tls-cert", file}, "--tls-cert", "go together"},
		{"key of members without certificate", []string{"--peer-tls-key", file}, "--peer-tls-cert", "go together"},
		{"client certificates without TLS", []string{"--tls-client-ca", file}, "--tls-client-ca", "needs --tls-cert"},
		{"members' CA without a certificate", []string{"--peer-tls-ca", file}, "--peer-tls-ca", "needs --tls-cert"},
		{"members' certificate without CA", []string{"--peer-tls-cert", file, "--peer-tls-key", file}, "--peer-tls-cert", "needs --peer-tls-ca"},
		{"tokens without rights", []string{"--tokens", file}, "--policy", "is missing"},
		{"tokens that are none", []string{"--tokens", file, "--policy", policy}, "--tokens", "holds no token"},
		{"policy that is none", []string{"--policy", file}, "--policy", "holds no rule"},
		{"certificate that is none", []string{"--tls-cert", file, "--tls-key", file}, "--tls-cert", "cannot be used"},
	} {
		r := try(t, nil, append(append([]string{}, good...), c.args...)...)
		if r.code != exitWrong || !strings.HasPrefix(r.errs, "tidemarkd: "+c.option+" ") || !strings.Contains(r.errs, c.text) || strings.Count(r.errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", c.name, r.code, r.errs)
		}
		if _, err := os.Stat(data); err == nil {
			t.Fatalf("%s: the data folder was made", c.name)
		}
	}
	if left, _ := os.ReadDir(parent); len(left) != 1 {
		t.Errorf("the parent folder holds %v", left)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	data := filepath.Join(t.TempDir(), "data")
	r := try(t, nil, "--name", "n1", "--data", data, "--listen", "127.0.0.1:0", "--peer-listen", l.Addr().String())
	if r.code != exitWrong || !strings.Contains(r.errs, "--peer-listen") || !strings.Contains(r.errs, "in use") {
		t.Errorf("exit %d, %s", r.code, r.errs)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the data folder was made")
	}
}

func TestAddressesThatFollow(t *testing.T) {
	dir := t.TempDir()
	s, err := settle(options{
		Name: "n1", Data: dir, Listen: "10.0.0.1:7411", InitialCluster: "n1=h1:7412,n2=h2:7412", Timers: "lan", Insecure: true,
		CallTimeout: 1e9, StopTimeout: 1e9, LimitConnections: 1, LimitPerAddress: 1, LimitCalls: 1, LimitCallsStream: 1,
		LimitCallBytes: 16 << 20, LimitExports: 1, LimitWaiting: 1, LimitReads: 1, LimitGroups: 1, LimitQueues: 1,
		SnapshotLogBytes: 1 << 20, SnapshotTrailBytes: 1 << 16, LimitPrefix: []string{"a=b=7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Advertise != "10.0.0.1:7411" || s.PeerListen != ":7412" || s.PeerAdvertise != "h1:7412" || len(s.founders) != 2 {
		t.Errorf("%+v", s)
	}
	if p := s.prefixes[0]; p.Prefix != "a=b" || p.Queues != 7 {
		t.Errorf("prefix %+v", p)
	}
}
