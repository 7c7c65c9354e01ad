package cases

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
)

// options are those of a daemon of a cluster, its addresses at ip.
func options(c *local.Cluster, name, ip, founders string) []string {
	at := func(addr string) string { return strings.Replace(addr, "127.0.0.1", ip, 1) }
	args := []string{
		"--name", name, "--data", filepath.Join(c.Run, name, "data"),
		"--listen", at(c.API(name)), "--advertise", at(c.API(name)),
		"--peer-listen", at(c.Peer(name)), "--peer-advertise", at(c.Peer(name)),
	}
	if founders != "" {
		args = append(args, "--initial-cluster", founders)
	}
	return args
}

// TestC31NamesThatMove: all members come back on other machines behind the
// same names, and nobody has to say anything.
func TestC31NamesThatMove(t *testing.T) {
	c := served.Start(t, 3)
	l := load.Start(t, c.Dial, load.Shape{})
	l.More(5)
	c.Stop()
	for i, m := range c.Members {
		c.Net.Point(m.Name, fmt.Sprintf("machine%d", i+1))
		m.Host = fmt.Sprintf("machine%d", i+1)
		m.Config.Dial = c.Net.Host(m.Host).Dial
	}
	began := time.Now()
	for _, m := range c.Members {
		m.Start()
	}
	c.WaitReady(c.Members...)
	t.Logf("a leader after %v", time.Since(began).Round(time.Millisecond))
	l.More(5)
	l.Check(c.Nodes())
}

// TestC31AddressOfOneMember: an IP address that changes is told by one command,
// and there is no second entry of the member.
func TestC31AddressOfOneMember(t *testing.T) {
	c := local.Start(t, 3)
	c.Tidemark("commit", "g", "t", "0", "7", "--execute").Want(t, 0, "-> 7", "")
	name := c.Others(c.Leader())[0]
	before, err := c.Nodes(name)[0].Status(ask.Within(t, ask.Patience))
	if err != nil {
		t.Fatal(err)
	}
	c.Sh("stop", name)
	d := c.Daemon(options(c, name, "127.0.0.2", "")...)
	moved := ask.New(name, strings.Replace(c.API(name), "127.0.0.1", "127.0.0.2", 1), nil)
	address := strings.Replace(c.Peer(name), "127.0.0.1", "127.0.0.2", 1)
	ask.Until(t, "it answers at its new address", func() bool {
		s, err := moved.Status(ask.Within(t, time.Second))
		return err == nil && s.NodeID == before.NodeID
	})
	ask.Until(t, "its address is changed", func() bool {
		r := c.Tidemark("cluster", "add", before.NodeID, address, "--execute")
		if r.Code != 0 && !strings.Contains(r.Err, "nobody answers") {
			t.Fatalf("%+v", r)
		}
		return r.Code == 0
	})
	ask.Until(t, "it is ready", func() bool {
		s, err := moved.Status(ask.Within(t, time.Second))
		return err == nil && s.NotReady == ""
	})
	moved.MustRead(t, ask.Local, key("g", "t", "", 0), 7)
	s, err := moved.Status(ask.Within(t, ask.Patience))
	if err != nil || len(s.Members) != 3 {
		t.Fatalf("%d members, %v; want 3", len(s.Members), err)
	}
	for _, m := range s.Members {
		if m.ID == before.NodeID && (m.Peer != address || !m.Voter) {
			t.Errorf("the moved member is at %s, voter %v", m.Peer, m.Voter)
		}
	}
	// It counts again: without one of the others there is still a quorum.
	c.Sh("kill", c.Others(name)[0])
	ask.Until(t, "commits go on with it", func() bool {
		return c.Tidemark("commit", "g", "t", "0", "9", "--execute").Code == 0
	})
	moved.MustRead(t, ask.Default, key("g", "t", "", 0), 9)
	if code := d.Stop(t); code != 0 {
		t.Errorf("the moved member ends with %d", code)
	}
}

// TestC31AllAddressesAtOnce: nothing works, and status says why, and whom the
// members would have to reach. (Recovery is a story of its own.)
func TestC31AllAddressesAtOnce(t *testing.T) {
	c := local.Start(t, 3)
	c.Sh("down")
	var endpoints []string
	for _, n := range c.Names() {
		c.Daemon(options(c, n, "127.0.0.2", "")...)
		endpoints = append(endpoints, strings.Replace(c.API(n), "127.0.0.1", "127.0.0.2", 1))
	}
	moved := ask.New("n1", endpoints[0], nil)
	ask.Until(t, "n1 runs", func() bool {
		s, err := moved.Status(ask.Within(t, time.Second))
		return err == nil && len(s.Members) == 3
	})
	r := c.TidemarkAt(ask.Within(t, ask.Patience), strings.Join(endpoints, ","), "--timeout", "2s", "cluster", "status")
	if r.Code != 5 && r.Code != 8 {
		t.Errorf("status of a cluster without quorum: exit code %d", r.Code)
	}
	for _, n := range c.Names() {
		if !strings.Contains(r.Out, c.Peer(n)) {
			t.Errorf("status does not say that %s is configured at %s:\n%s%s", n, c.Peer(n), r.Out, r.Err)
		}
	}
	if !strings.Contains(r.Out+r.Err, "no leader") {
		t.Errorf("status does not say that there is no leader:\n%s%s", r.Out, r.Err)
	}
	status, text, err := moved.Page(ask.Within(t, ask.Patience), "/readyz")
	if err != nil || status != 503 || !strings.Contains(text, "leader") {
		t.Errorf("/readyz: %d %q, %v", status, text, err)
	}
}

// TestC32WrongAddresses are refused before anything is written, with the
// option to set.
func TestC32WrongAddresses(t *testing.T) {
	c := local.New(t, 3)
	dir := t.TempDir()
	for _, x := range []struct {
		name, option string
		args         []string
	}{
		{"bind to any, advertise nothing", "--advertise", []string{"--listen", "0.0.0.0:0", "--peer-listen", "127.0.0.1:0"}},
		{"bind the raft port to any, advertise nothing", "--peer-advertise", []string{"--listen", "127.0.0.1:0", "--peer-listen", "0.0.0.0:0"}},
		{"loopback among three machines", "--peer-advertise", []string{"--listen", "127.0.0.1:0", "--peer-listen", "127.0.0.1:7412", "--initial-cluster", "n1=127.0.0.1:7412,n2=192.0.2.2:7412,n3=192.0.2.3:7412"}},
		{"no host", "--peer-advertise", []string{"--listen", "127.0.0.1:0", "--peer-listen", "127.0.0.1:0", "--peer-advertise", ":7000"}},
		{"any", "--advertise", []string{"--listen", "127.0.0.1:0", "--advertise", "0.0.0.0:7411", "--peer-listen", "127.0.0.1:0"}},
		{"two of one name", "--initial-cluster", []string{"--listen", "127.0.0.1:0", "--peer-listen", "127.0.0.1:7412", "--initial-cluster", "n1=127.0.0.1:7412,n1=127.0.0.1:7413"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			data := filepath.Join(dir, "data")
			d := c.Daemon(append([]string{"--name", "n1", "--data", data}, x.args...)...)
			if code := d.Wait(t); code == 0 || !strings.Contains(d.Log(), x.option) {
				t.Errorf("exit code %d, and it says %q; want a word on %s", code, d.Log(), x.option)
			}
			if _, err := os.Stat(data); !os.IsNotExist(err) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}

// TestC32NameNotKnownYet: a name that does not resolve is tried again.
func TestC32NameNotKnownYet(t *testing.T) {
	c := served.New(t, 3)
	c.Net.Point("n3", "")
	for _, m := range c.Members {
		m.Start()
	}
	l := load.Start(t, c.Dial, load.Shape{Consumers: 2})
	time.Sleep(300 * time.Millisecond) // how long the name stays unknown
	for _, m := range c.Members {
		if !m.Running() {
			t.Fatalf("%s has ended: %v", m.Name, m.Wait())
		}
		if m.Node().Ready() == nil {
			t.Errorf("%s is ready, though n3 cannot be reached", m.Name)
		}
	}
	c.Net.Point("n3", "n3")
	c.WaitReady(c.Members...)
	l.More(3)
	l.Check(c.Nodes())
}

// TestC32TwoNodesOfOneIdentity: a copy of a data folder that is started at
// another address is told what it is, and changes nothing.
func TestC32TwoNodesOfOneIdentity(t *testing.T) {
	c := local.Start(t, 3)
	name := c.Others(c.Leader())[0]
	c.Sh("stop", name)
	data := filepath.Join(c.Run, name, "data")
	copied := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	c.Sh("start", name)
	c.Sh("ready")
	args := options(c, name, "127.0.0.2", "")
	args[3] = copied
	d := c.Daemon(args...)
	if code := d.Wait(t); code == 0 || !strings.Contains(d.Log(), "another process runs at") || !strings.Contains(d.Log(), "--data") {
		t.Errorf("the copy ends with %d, and says %q", code, d.Log())
	}
	c.Tidemark("commit", "g", "t", "0", "7", "--execute").Want(t, 0, "-> 7", "")
	ask.Same(t, c.Nodes())
}
