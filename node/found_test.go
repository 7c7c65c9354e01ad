package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// oneCluster fails unless all nodes belong to the same cluster with the same
// voters, which are just these nodes.
func oneCluster(t *testing.T, nodes ...*trialNode) {
	t.Helper()
	var want []peer.Founder
	for _, name := range founderNames {
		for _, n := range nodes {
			if n.name == name {
				want = append(want, peer.Founder{ID: n.identity.id(), Peer: name + ":7412"})
			}
		}
	}
	for _, n := range nodes {
		if c := n.identity.cluster(); c.IsZero() || c != nodes[0].identity.cluster() {
			t.Errorf("%s belongs to %q, %s to %q", n.name, c, nodes[0].name, nodes[0].identity.cluster())
		}
		if got := n.identity.founders(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s would bootstrap with\n     %v\nwant %v", n.name, got, want)
		}
	}
}

func TestFounding(t *testing.T) {
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}} {
		t.Run(strings.Join(order, ""), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := newTrial(t)
				var nodes []*trialNode
				for _, name := range order {
					for _, n := range nodes { // nobody founds before the last is there
						n.waits(3 * time.Second)
						if !n.identity.cluster().IsZero() {
							t.Fatalf("%s has drawn alone", n.name)
						}
					}
					nodes = append(nodes, tr.start(name))
				}
				allReady(5*time.Second, nodes...)
				oneCluster(t, nodes...)
				// Started again, nothing is asked and nothing changes.
				for i, n := range nodes {
					was := n.identity.cluster()
					n.stop()
					nodes[i] = tr.start(n.name, func(c *foundingConfig) { c.empty = false })
					nodes[i].ready(time.Second)
					if nodes[i].identity.cluster() != was {
						t.Errorf("%s has changed its cluster", n.name)
					}
				}
			})
		})
	}
}

func TestFoundingAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTrial(t).start("a", func(c *foundingConfig) { c.initial = []Founder{{"a", "a:7412"}} })
		n.ready(time.Second)
		if got := n.identity.founders(); len(got) != 1 || got[0].ID != n.identity.id() {
			t.Errorf("voters %v", got)
		}
	})
}

// The first founder, and each of the others, is killed at each step of the
// founding in turn; it goes on after its restart, and there is one cluster.
func TestFounderCrashesHalfWay(t *testing.T) {
	steps := []struct{ name, step string }{
		{"a", "hello b:7412"}, {"a", "hello c:7412"},
		{"a", "found b:7412"}, {"a", "found c:7412"}, // drawn, not told
		{"a", "founded b:7412"}, {"a", "founded c:7412"}, // told, not noted
		{"b", "hello a:7412"}, {"b", "store"}, {"b", "stored"}, // not answered
		{"c", "store"}, {"c", "stored"},
	}
	for _, s := range steps {
		for times := 1; times <= 2; times++ {
			t.Run(fmt.Sprintf("%s at %s, %d times", s.name, s.step, times), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crashAt(t, s.name, s.step, times) })
			})
		}
	}
}

func crashAt(t *testing.T, name, step string, times int) {
	tr := newTrial(t)
	crashes := 0
	tr.crash = func(n, s string) bool {
		if n != name || s != step || crashes == times {
			return false
		}
		crashes++
		return true
	}
	nodes := map[string]*trialNode{}
	for _, n := range founderNames {
		nodes[n] = tr.start(n)
	}
	drawn := offset.ClusterID{}
	for {
		<-nodes[name].done
		if !nodes[name].dead.Load() {
			break
		}
		nodes[name].stop()
		for _, n := range nodes { // whoever has heard of a cluster has heard of the same
			if c := n.identity.cluster(); !c.IsZero() {
				if !drawn.IsZero() && c != drawn {
					t.Fatalf("%s holds the draw %s, there was %s", n.name, c, drawn)
				}
				drawn = c
			}
		}
		time.Sleep(20 * time.Second) // the others are in no hurry
		nodes[name] = tr.start(name)
	}
	synctest.Wait()
	if nodes[name].dead.Load() { // it had what it needed, and crashed right behind that
		nodes[name].stop()
		nodes[name] = tr.start(name)
	}
	allReady(10*time.Second, slices.Collect(maps.Values(nodes))...)
	if crashes == 0 {
		t.Fatal("the step was never reached")
	}
	if c := nodes["a"].identity.cluster(); !drawn.IsZero() && c != drawn {
		t.Errorf("drawn %s, founded %s", drawn, c)
	}
	oneCluster(t, nodes["a"], nodes["b"], nodes["c"])
	for _, n := range nodes {
		if n.identity.drawing() {
			t.Errorf("%s goes on drawing", n.name)
		}
	}
}

// All founders are killed at once, again and again, at growing times.
func TestAllFoundersCrashAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}} {
			tr.net.Slow(pair[0], pair[1], 7*time.Millisecond)
		}
		for pause := time.Duration(0); pause < 200*time.Millisecond; pause += 9 * time.Millisecond {
			var nodes []*trialNode
			for _, name := range founderNames {
				nodes = append(nodes, tr.start(name))
			}
			time.Sleep(pause)
			for _, n := range nodes {
				n.stop()
			}
		}
		var nodes []*trialNode
		for _, name := range founderNames {
			nodes = append(nodes, tr.start(name))
		}
		allReady(10*time.Second, nodes...)
		oneCluster(t, nodes...)
	})
}

// found makes a trial whose cluster is founded and runs, as raft would say.
func found(t *testing.T) (*trial, map[string]*trialNode) {
	t.Helper()
	tr := newTrial(t)
	nodes := map[string]*trialNode{}
	for _, name := range founderNames {
		nodes[name] = tr.start(name)
	}
	allReady(10*time.Second, slices.Collect(maps.Values(nodes))...)
	for _, name := range founderNames {
		nodes[name].stop()
		nodes[name] = tr.start(name, func(c *foundingConfig) { c.empty = false })
		nodes[name].ready(time.Second)
	}
	return tr, nodes
}

// twoCommands fails unless the error names both commands, ready to be pasted.
func twoCommands(t *testing.T, err error, n *trialNode) {
	t.Helper()
	for _, want := range []string{
		"tidemark cluster remove " + n.name + " --execute\n",
		"with its data folder as it is", "start it without --initial-cluster",
		"tidemark cluster add " + n.identity.id() + " " + n.name + ":7412 --execute",
	} {
		if !errors.Is(err, offset.ErrDenied) && !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
}

// A wiped node that comes back is told the two commands, and founds nothing,
// whichever it is; and when all but one are wiped, too.
func TestWipedNodeIsToldTheTwoCommands(t *testing.T) {
	for _, wiped := range [][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "c"}} {
		t.Run(strings.Join(wiped, ""), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr, nodes := found(t)
				for _, name := range wiped {
					nodes[name].stop()
					os.RemoveAll(filepath.Join(tr.dirs, name))
				}
				old := map[string]string{}
				for _, name := range wiped {
					old[name] = nodes[name].identity.id()
					nodes[name] = tr.start(name)
				}
				for _, name := range wiped {
					n := nodes[name]
					twoCommands(t, n.refused(20*time.Second), n)
					if n.identity.id() == old[name] || !n.identity.cluster().IsZero() {
						t.Errorf("%s is %s of cluster %s", name, n.identity.id(), n.identity.cluster())
					}
				}
			})
		})
	}
}

// ... and after the two commands it goes in, as the new member that it is.
func TestWipedNodeComesBackOnceAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, nodes := found(t)
		nodes["a"].stop()
		os.RemoveAll(filepath.Join(tr.dirs, "a"))
		a := tr.start("a")
		twoCommands(t, a.refused(20*time.Second), a)
		a.stop()
		for _, name := range []string{"b", "c"} {
			nodes[name].stop()
			nodes[name] = tr.start(name, func(c *foundingConfig) {
				c.empty = false
				c.listed = func(id string) bool { return id == a.identity.id() }
			})
			nodes[name].ready(time.Second)
		}
		again := tr.start("a")
		again.ready(10 * time.Second)
		if again.identity.id() != a.identity.id() || again.identity.cluster() != nodes["b"].identity.cluster() {
			t.Errorf("it is %s of %s", again.identity.id(), again.identity.cluster())
		}
		if v := again.identity.founders(); v != nil {
			t.Errorf("it would bootstrap with %v", v)
		}
	})
}

// Members that have not replayed their logs do not know their configuration:
// nobody is sent away on their word.
func TestStartingMembersSendNobodyAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, nodes := found(t)
		nodes["a"].stop()
		os.RemoveAll(filepath.Join(tr.dirs, "a"))
		for _, name := range []string{"b", "c"} {
			nodes[name].stop()
			nodes[name] = tr.start(name, func(c *foundingConfig) { c.empty, c.level = false, nil })
			nodes[name].ready(time.Second)
		}
		a := tr.start("a")
		a.waits(time.Minute)
		nodes["c"].stop()
		nodes["c"] = tr.start("c", func(c *foundingConfig) { c.empty = false })
		nodes["c"].ready(time.Second)
		twoCommands(t, a.refused(20*time.Second), a)
	})
}

func TestDataLostUnderAKeptIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, nodes := found(t)
		nodes["b"].stop()
		b := tr.start("b") // its store is empty
		err := b.refused(time.Second)
		for _, want := range []string{"tidemark cluster remove b --execute\n", "with an empty data folder", "tidemark cluster add"} {
			if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nlacks %q", err, want)
			}
		}
		if strings.Contains(err.Error(), b.identity.id()+" b:7412") { // it will have another id
			t.Errorf("%v\nwould add an id that nobody will have", err)
		}
		b.stop()
		os.Remove(filepath.Join(tr.dirs, "b", memberFile))
		b = tr.start("b", func(c *foundingConfig) { c.empty = false })
		if err := b.refused(time.Second); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), memberFile) {
			t.Errorf("data without its identity: %v", err)
		}
	})
}

func TestAddedMemberWaitsForTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, nodes := found(t)
		d := tr.start("d", func(c *foundingConfig) { c.initial = nil })
		d.waits(time.Hour)
		call := func() error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			c, err := nodes["b"].peer.DialRaft(ctx, d.identity.id(), "d:7412")
			if err == nil {
				c.Close()
			}
			return err
		}
		if err := call(); err != nil {
			t.Fatal(err)
		}
		d.ready(time.Second)
		if d.identity.cluster() != nodes["b"].identity.cluster() || d.identity.founders() != nil {
			t.Errorf("%+v", d.identity.now)
		}
		if err := call(); err != nil {
			t.Errorf("once it is a member: %v", err)
		}
	})
}

func TestTooOldABuildDoesNotJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, nodes := found(t)
		for _, n := range nodes {
			n.lvl.Store(offset.FormatLevel + 1)
		}
		nodes["a"].stop()
		os.RemoveAll(filepath.Join(tr.dirs, "a"))
		a := tr.start("a")
		if err := a.refused(20 * time.Second); !errors.Is(err, offset.ErrLevel) || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("met: %v", err)
		}
		d := tr.start("d", func(c *foundingConfig) { c.initial = nil })
		if err := d.adopt(nodes["b"].identity.cluster(), nodes["b"].identity.id(), offset.FormatLevel+1); !errors.Is(err, offset.ErrLevel) {
			t.Errorf("adopted: %v", err)
		}
		if err := d.refused(time.Second); !errors.Is(err, offset.ErrLevel) {
			t.Errorf("called: %v", err)
		}
		if !d.identity.cluster().IsZero() {
			t.Error("it has joined all the same")
		}
	})
}

// C32: two nodes with the same identity, and addresses that reach the wrong node.
func TestSecondNodeWithOneIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, _ := found(t)
		b, err := os.ReadFile(filepath.Join(tr.dirs, "b", memberFile))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(tr.dirs, "copy")
		os.Mkdir(copied, 0o700)
		os.WriteFile(filepath.Join(copied, memberFile), b, 0o600)
		id, err := openIdentity(copied, "b")
		if err != nil {
			t.Fatal(err)
		}
		defer id.close()
		// It runs on another machine, and advertises the address that its copy had.
		second := tr.start("elsewhere", func(c *foundingConfig) {
			c.identity.close()
			c.identity, c.peer, c.empty = id, "b:7412", false
		})
		if err := second.refused(5 * time.Second); !errors.Is(err, offset.ErrDenied) || ExitCode(err) != ExitDamaged || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%v", err)
		}
		stranger := tr.start("d", func(c *foundingConfig) { c.initial, c.peer = nil, "c:7412" })
		if err := stranger.refused(5 * time.Second); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "--peer-advertise") {
			t.Errorf("another's address: %v", err)
		}
	})
}
