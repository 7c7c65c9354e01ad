package processes

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// growing is a cluster that began as a node of --dev.
type growing struct {
	*hosts
	random *rand.Rand
	home   string // where --dev keeps its state
}

// grow prepares it: n1 is named dev, begins at 127.0.0.1 and moves to 127.0.0.2.
func grow(t *testing.T) *growing {
	home := filepath.Join(t.TempDir(), "state")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	g := &growing{hosts: newHosts(t, local.Env("XDG_STATE_HOME", home)), random: rand.New(rand.NewPCG(seed, 0)), home: home}
	g.args["dev"] = []string{"--dev", "--listen", g.API("n1"), "--peer-listen", g.Peer("n1")}
	for _, n := range []string{"n2", "n3"} {
		g.args[n] = g.options(n, n)
	}
	return g
}

// crash kills a node within d, and starts it again.
func (g *growing) crash(name string, d time.Duration) {
	time.Sleep(time.Duration(g.random.Int64N(int64(d)))) // anywhere in what goes on
	g.running[name].Kill()
	g.start(name)
}

// endpoints are all that the cluster has had and will have.
func (g *growing) endpoints() []string {
	return append([]string{g.API("n1")}, g.hosts.endpoints()...)
}

func (g *growing) dial() *client.Client { return g.dialTo(g.endpoints()) }

// again runs a command again until it is done, as an operator would, while
// crash happens to a node.
func (g *growing) again(crashing string, args ...string) {
	g.t.Helper()
	for range effort.Of(1, 5) {
		crashed := make(chan struct{})
		go func() {
			defer close(crashed)
			g.crash(crashing, 60*time.Millisecond)
		}()
		r := g.try(args...)
		g.t.Logf("%s, while %s crashes: %d %s", strings.Join(args, " "), crashing, r.Code, strings.TrimSpace(r.Err))
		<-crashed
	}
	ask.Until(g.t, strings.Join(args, " "), func() bool { return g.try(args...).Code == 0 })
}

func (g *growing) try(args ...string) local.Result {
	endpoints := strings.Join(g.endpoints()[1:], ",")
	return g.TidemarkAt(ask.Within(g.t, ask.Patience), endpoints, append([]string{"--timeout", "3s"}, append(args, "--execute")...)...)
}

// id waits for what a node calls itself.
func (g *growing) id(ports string) (id string) {
	node := ask.New(ports, at(g.API(ports)), nil)
	ask.Until(g.t, ports+" has an id", func() bool {
		s, err := node.Status(ask.Within(g.t, time.Second))
		id = s.NodeID
		return err == nil && id != ""
	})
	return id
}

// move has the folder and the address of dev change, with crashes on the way.
func (g *growing) move() {
	g.running["dev"].Kill()
	if err := os.Rename(filepath.Join(g.home, "tidemark-dev"), g.tidemark("dev")); err != nil {
		g.t.Fatal(err)
	}
	g.args["dev"] = g.options("dev", "n1")
	g.start("dev")
	for range effort.Of(3, 20) {
		g.crash("dev", 700*time.Millisecond) // an election takes 300 to 600
	}
	dev := ask.New("dev", at(g.API("n1")), nil)
	ask.Until(g.t, "dev is known at its new address", func() bool {
		s, err := dev.Status(ask.Within(g.t, time.Second))
		return err == nil && len(s.Members) == 1 && s.Members[0].Peer == at(g.Peer("n1")) && s.NotReady == ""
	})
}

func voters(s offset.Status) (n int) {
	for _, m := range s.Members {
		if m.Voter {
			n++
		}
	}
	return n
}

// TestFromDevToThree: a node that was begun with --dev becomes a cluster of
// three under load, killed at each step, and every acknowledged offset is there.
func TestFromDevToThree(t *testing.T) {
	g := grow(t)
	g.start("dev")
	l := load.Start(t, g.dial, load.Shape{Consumers: 4, Pace: 5 * time.Millisecond})
	l.More(3)
	g.crash("dev", time.Millisecond)
	l.More(3)
	g.move()
	l.More(3)
	for _, n := range []string{"n2", "n3"} {
		g.start(n)
		g.again(n, "cluster", "add", g.id(n), at(g.Peer(n)))
		l.More(1)
	}
	g.again("dev", "cluster", "promote", "n2")
	l.More(1)
	g.again("n2", "cluster", "promote", "n3")
	l.More(3)
	nodes := g.nodes()
	leader := ""
	ask.Until(t, "all know of three voters", func() bool {
		for _, n := range nodes {
			s, err := n.Status(ask.Within(t, time.Second))
			if err != nil || s.NotReady != "" || voters(s) != 3 {
				return false
			}
			for _, m := range s.Members {
				if m.Leader {
					leader, _, _ = strings.Cut(m.ID, "/")
				}
			}
		}
		return true
	})
	g.running[leader].Kill()
	l.More(3) // three bear the loss of one
	g.start(leader)
	l.More(1)
	l.Check(nodes)
	t.Logf("%d offsets were acknowledged", l.Acknowledged())
}
