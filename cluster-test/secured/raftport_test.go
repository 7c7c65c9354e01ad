package secured

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth/certs"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// TestTheRaftPort: who is no member gets nowhere, and no byte of raft's is read of
// it: in cleartext, without a certificate, with a client's, one of another role, one
// of another CA. The term stays, and the node notes each.
func TestTheRaftPort(t *testing.T) {
	s := start(t, "")
	foreign := t.TempDir()
	for _, args := range [][]string{
		{"cert", "client", "intruder", "--dir", s.dir},
		{"cert", "node", "other-cluster", "127.0.0.1", "--role", "other:member", "--dir", s.dir},
		{"cert", "ca", foreign}, {"cert", "node", "stranger", "127.0.0.1", "--dir", foreign},
	} {
		if code, out := s.CLI(args...); code != 0 {
			t.Fatal(out)
		}
	}
	ops := s.client("ops")
	before := s.states(ops)
	shown := func(dir, name string) *tls.Config {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		return s.tls(func(c *tls.Config) { c.Certificates = []tls.Certificate{pair} })
	}
	tries := []struct {
		who    string
		config *tls.Config // nil: cleartext
		noted  string
	}{
		{"with a client's certificate", shown(s.dir, "intruder"), "is no member's"},
		{"with the certificate of another role", shown(s.dir, "other-cluster"), "is no member's"},
		{"with a certificate of another CA", shown(foreign, "stranger"), "unknown authority"},
		{"without a certificate", s.tls(), "didn't provide a certificate"},
		{"in cleartext", nil, "first record does not look like a TLS handshake"},
	}
	for _, c := range tries {
		answer, err := knock(s.Peer("n1"), c.config)
		if len(answer) > 0 && c.config != nil || c.config != nil && (err == nil || !strings.Contains(err.Error(), "tls:")) {
			t.Errorf("%s: answered %q, %v", c.who, answer, err)
		}
		ask.Until(t, "it is noted who came "+c.who, func() bool {
			lines, _ := s.denials()
			return strings.Contains(fmt.Sprint(lines), c.noted)
		})
	}
	if after := s.states(ops); after != before {
		t.Errorf("the state was %s, and is %s", before, after)
	}
	if lines, total := s.denials(); len(lines) != len(tries) || total != len(tries) || !strings.Contains(fmt.Sprint(lines), "intruder") {
		t.Errorf("%d are noted of %d: %v", total, len(tries), lines)
	}
}

// knock says hello to a raft port, with a request for a vote behind it, and gives
// what comes back until the other side closes.
func knock(addr string, c *tls.Config) ([]byte, error) {
	nc, err := net.DialTimeout("tcp", addr, 20*time.Second)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	if c != nil {
		c.ServerName = "127.0.0.1"
		nc = tls.Client(nc, c)
	}
	if err := nc.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := nc.Write([]byte("tdmkpeer\x01\x01\x01\x00 and behind it raft's vote request \x01\xff")); err != nil {
		return nil, err
	}
	return io.ReadAll(nc)
}

// TestMembersOfElsewhere: a member's certificate of the very CA and role opens the
// port, and not to another cluster's member, nor to who means another member.
func TestMembersOfElsewhere(t *testing.T) {
	s := start(t, "")
	ops := s.client("ops")
	before := s.states(ops)
	st, err := ops.Status(ask.Within(t, ask.Patience), s.API("n1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who     string
		cluster offset.ClusterID
		target  string
		want    error
	}{
		{"of another cluster", offset.ClusterID{1}, st.NodeID, offset.ErrForeignCluster},
		{"who means another member", st.Meta.Cluster, "n1/00112233445566778899aabbccddeeff", offset.ErrNotFound},
		{"under the name of the one called", st.Meta.Cluster, st.NodeID, offset.ErrDenied},
	} {
		id := "n2/ffeeddccbbaa99887766554433221100"
		if errors.Is(c.want, offset.ErrDenied) {
			id = st.NodeID
		}
		nc, err := s.stranger(id, c.cluster).DialRaft(ask.Within(t, ask.Patience), c.target, s.Peer("n1"))
		if nc != nil {
			nc.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("a member %s: %v, want %v", c.who, err, c.want)
		}
	}
	ask.Until(t, "the log tells of the first, and of others in a minute's time", func() bool {
		return strings.Contains(s.Log("n1"), "refused a connection to the raft port") && strings.Contains(s.Log("n1"), "another cluster")
	})
	if after := s.states(ops); after != before {
		t.Errorf("the state was %s, and is %s", before, after)
	}
}

// stranger is somebody who has n2's certificate and key.
func (s *secured) stranger(id string, cluster offset.ClusterID) *peer.Peer {
	s.t.Helper()
	pair, err := certs.OpenPair(s.path("n2.crt"), s.path("n2.key"))
	if err != nil {
		s.t.Fatal(err)
	}
	cas, err := certs.OpenCAs(s.path("ca.crt"))
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	p, err := peer.New(peer.Config{
		Listener: l, ID: id, Handler: struct{ peer.Handler }{}, Cluster: func() offset.ClusterID { return cluster },
		TLS: &certs.Members{Pair: pair, CAs: cas, Role: certs.MemberRole},
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// TestARemovedMemberGetsNoVote: one that was removed while it was down has its
// certificate still, and so gets through to raft, which gives it no vote: term and
// state stay what they are, and it ends.
func TestARemovedMemberGetsNoVote(t *testing.T) {
	s := start(t, "")
	ops := s.client("ops")
	s.states(ops)
	st, err := ops.Status(ask.Within(t, ask.Patience), "")
	if err != nil {
		t.Fatal(err)
	}
	gone := s.Others(nameOfLeader(st))[0]
	s.Sh("kill", gone)
	if code, out := s.tidemark("ops", "cluster", "remove", gone, "--execute"); code != 0 {
		t.Fatal(out)
	}
	var rest []string
	for _, n := range s.Others(gone) {
		rest = append(rest, s.API(n))
	}
	before := s.settledState(rest)
	s.Try(gone)
	ask.Until(t, gone+" has ended", func() bool { return strings.Contains(s.Log(gone), "exit_code=72") })
	if after := s.statesOf(ops, rest...); after != before {
		t.Errorf("the state was %s, and is %s", before, after)
	}
}

// nameOfLeader is the name of the member that leads.
func nameOfLeader(st offset.Status) string {
	for _, m := range st.Members {
		if m.Leader {
			name, _, _ := strings.Cut(m.ID, "/")
			return name
		}
	}
	return ""
}

// settledState waits until the removal has been followed by all that comes of it,
// and gives the state.
func (s *secured) settledState(addrs []string) (state string) {
	s.t.Helper()
	ops := s.client("ops")
	ask.Until(s.t, "the state names two members", func() bool {
		st, err := ops.Status(ask.Within(s.t, 5*time.Second), addrs[0])
		return err == nil && len(st.Members) == 2
	})
	for last := ""; state == "" || state != last; {
		last, state = state, s.statesOf(ops, addrs...)
	}
	return state
}
