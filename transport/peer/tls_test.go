package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/auth/certs/certstest"
	"github.com/tidemark-mq/tidemark/offset"
)

// guarded is a member on loopback with TLS.
type guarded struct {
	*Peer
	fake      *fake
	strangers chan error
}

// members makes TLS of files.
func members(t testing.TB, ca string, f certstest.Files) *certs.Members {
	t.Helper()
	pair, err := certs.OpenPair(f.Cert, f.Key)
	if err != nil {
		t.Fatal(err)
	}
	cas, err := certs.OpenCAs(ca)
	if err != nil {
		t.Fatal(err)
	}
	return &certs.Members{Pair: pair, CAs: cas, Role: certs.MemberRole}
}

// guard runs a member that speaks TLS.
func guard(t testing.TB, id string, m *certs.Members) *guarded {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{fake: &fake{}, strangers: make(chan error, 16)}
	g.Peer, err = New(Config{
		Listener: l, ID: id, Handler: g.fake, TLS: m,
		Stranger: func(_ string, err error) { g.strangers <- err },
		Cluster:  func() offset.ClusterID { return clusterA },
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := g.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return g
}

// TestMembersOverTLS (C46: etcd-io/etcd#8797, #15917): certificates that hold
// names alone, addresses alone, or both, do when they match the address dialled.
func TestMembersOverTLS(t *testing.T) {
	ca := certstest.New(t)
	for name, hosts := range map[string][]string{"names": {"localhost"}, "addresses": {"127.0.0.1"}, "both": {"127.0.0.1", "localhost"}} {
		t.Run(name, func(t *testing.T) {
			n1 := guard(t, "n1/1", members(t, ca.File, ca.Member("n1"+name, hosts...)))
			n2 := guard(t, "n2/1", members(t, ca.File, ca.Member("n2"+name, hosts...)))
			n2.fake.readIndex = func(context.Context) (uint64, error) { return 42, nil }
			_, port, _ := net.SplitHostPort(n2.Addr().String())
			addr := net.JoinHostPort(hosts[0], port)
			if i, err := n1.To("n2/1", addr).ReadIndex(within(t, 10*time.Second)); i != 42 || err != nil {
				t.Errorf("%d, %v", i, err)
			}
			out, err := n1.DialRaft(within(t, 10*time.Second), "n2/1", addr)
			if err != nil {
				t.Fatal(err)
			}
			in, err := n2.AcceptRaft()
			if err != nil {
				t.Fatal(err)
			}
			echo(t, out, in)
			echo(t, in, out)
		})
	}
}

// TestWrongHost names both what was expected and what the certificate holds.
func TestWrongHost(t *testing.T) {
	ca := certstest.New(t)
	n1 := guard(t, "n1/1", members(t, ca.File, ca.Member("n1")))
	n2 := guard(t, "n2/1", members(t, ca.File, ca.Member("n2", "n2.example", "10.9.9.9")))
	_, err := n1.DialRaft(within(t, 10*time.Second), "n2/1", n2.Addr().String())
	for _, want := range []string{"127.0.0.1", "10.9.9.9", "n2.example"} {
		if !errors.Is(err, offset.ErrUnreachable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestStrangersAtTheRaftPort (C46: etcd-io/etcd#8262): who is no member is
// refused while TLS is agreed on. A greeting, and a vote request behind it, are
// sent all the same, and nobody reads them.
func TestStrangersAtTheRaftPort(t *testing.T) {
	ca, foreign := certstest.New(t), certstest.New(t)
	n1 := guard(t, "n1/1", members(t, ca.File, ca.Member("n1")))
	for _, c := range []struct {
		name  string
		shown *certstest.Files
		want  string
	}{
		{"a client of the same CA", files(ca.Client("billing-app")), "is no member's"},
		{"a member of another cluster of the CA", files(ca.MemberFor("n2", "tidemark:other/member", time.Hour)), "is no member's"},
		{"a member of another CA", files(foreign.Member("n2")), "unknown authority"},
		{"a member whose certificate has expired", files(ca.MemberFor("old", certs.MemberRole, -time.Minute)), "expired"},
		{"nobody", nil, "certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := &tls.Config{InsecureSkipVerify: true}
			if c.shown != nil {
				pair, err := tls.LoadX509KeyPair(c.shown.Cert, c.shown.Key)
				if err != nil {
					t.Fatal(err)
				}
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
			}
			nc, err := tls.Dial("tcp", n1.Addr().String(), config)
			if err == nil {
				defer nc.Close()
				_, _ = nc.Write(greeting{kind: kindRaft, maxLevel: 1, cluster: clusterA, run: RunID{1}, id: "n2/1", target: "n1/1"}.append(nil))
				_, _ = nc.Write([]byte{0, 0xff})
				_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
				_, err = io.ReadAll(nc)
			}
			if err == nil {
				t.Error("the connection was not refused with an alert")
			}
			n1.refusedFor(t, c.want)
		})
	}
	t.Run("cleartext", func(t *testing.T) {
		nc, err := net.Dial("tcp", n1.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		_, _ = nc.Write(greeting{kind: kindRaft, maxLevel: 1, cluster: clusterA, run: RunID{1}, id: "n2/1", target: "n1/1"}.append(nil))
		n1.refusedFor(t, "TLS handshake")
	})
	n1.books.mu.Lock()
	defer n1.books.mu.Unlock()
	if len(n1.books.guests) != 0 || n1.books.members != 0 {
		t.Errorf("%d members were let in", n1.books.members)
	}
}

func files(f certstest.Files) *certstest.Files { return &f }

// refusedFor waits until a stranger was refused for that, and sees that raft
// was handed nothing.
func (g *guarded) refusedFor(t *testing.T, why string) {
	t.Helper()
	select {
	case err := <-g.strangers:
		if !strings.Contains(err.Error(), why) {
			t.Errorf("refused for: %v; want %q", err, why)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nobody was refused")
	}
	select {
	case <-g.raft.conns:
		t.Error("raft was handed a connection")
	default:
	}
}

// TestDiallersVerify: a member does not greet who shows it no member's certificate.
func TestDiallersVerify(t *testing.T) {
	ca, foreign := certstest.New(t), certstest.New(t)
	n1 := guard(t, "n1/1", members(t, ca.File, ca.Member("n1")))
	for name, f := range map[string]certstest.Files{
		"is no member's":    ca.MemberFor("n2", "tidemark:other", time.Hour),
		"unknown authority": foreign.Member("n2"),
	} {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			t.Fatal(err)
		}
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		read := make(chan int, 1)
		go func() {
			nc, err := l.Accept()
			if err != nil {
				read <- 0
				return
			}
			defer nc.Close()
			n, _ := nc.Read(make([]byte, 100))
			read <- n
		}()
		_, err = n1.DialRaft(within(t, 10*time.Second), "n2/1", l.Addr().String())
		if !errors.Is(err, offset.ErrUnreachable) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
		if n := <-read; n != 0 {
			t.Errorf("%d bytes were sent to a stranger", n)
		}
	}
}
