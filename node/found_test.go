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
		"tidemark cluster add " + n.identity.id() + " " + n.name + ":7412 --execute\n",
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
		twoCommands(t, b.refused(time.Second), b)
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
		if err := second.refused(5 * time.Second); !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%v", err)
		}
		stranger := tr.start("d", func(c *foundingConfig) { c.initial, c.peer = nil, "c:7412" })
		if err := stranger.refused(5 * time.Second); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "--peer-advertise") {
			t.Errorf("another's address: %v", err)
		}
	})
}

func TestMixedUpAddresses(t *testing.T) {
	for name, tt := range map[string]struct {
		point map[string]string
		want  string
	}{
		"two swapped":   {map[string]string{"b": "c", "c": "b"}, "reaches \"c/"},
		"one is itself": {map[string]string{"c": "a"}, "reaches this node itself"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := newTrial(t)
				b, c := tr.start("b"), tr.start("c")
				for from, to := range tt.point {
					tr.net.Point(from, to)
				}
				err := tr.start("a").refused(10 * time.Second)
				if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "--initial-cluster") {
					t.Errorf("%v", err)
				}
				for _, n := range []*trialNode{b, c} {
					if !n.identity.cluster().IsZero() {
						t.Errorf("%s has been founded", n.name)
					}
				}
			})
		})
	}
}

// C32: an address whose name is not known yet is tried again, for as long as it takes.
func TestUnknownNameIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		tr.net.Point("c", "")
		a, b, c := tr.start("a"), tr.start("b"), tr.start("c")
		for _, n := range []*trialNode{a, b, c} {
			n.waits(time.Minute)
		}
		tr.net.Point("c", "c")
		allReady(30*time.Second, a, b, c)
		oneCluster(t, a, b, c)
	})
}

// C31, named part: everybody comes back at another host behind the same names.
func TestFoundingFollowsNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		tr.crash = func(name, step string) bool { return name == "a" && step == "founded b:7412" }
		nodes := map[string]*trialNode{}
		for _, name := range founderNames {
			nodes[name] = tr.start(name)
		}
		<-nodes["a"].done // half way
		tr.stopCrashing()
		for _, name := range founderNames {
			nodes[name].stop()
			tr.net.Point(name, name+"-new")
		}
		for _, name := range founderNames {
			nodes[name] = tr.startOn(name+"-new", name)
		}
		allReady(20*time.Second, slices.Collect(maps.Values(nodes))...)
		oneCluster(t, nodes["a"], nodes["b"], nodes["c"])
	})
}

func TestFoundersThatDisagree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		b := tr.start("b", func(c *foundingConfig) { c.initial = append(c.initial, Founder{"d", "d:7412"}) })
		tr.start("c")
		err := tr.start("a").refused(10 * time.Second)
		if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "must be the same on all founders") {
			t.Errorf("%v", err)
		}
		if !b.identity.cluster().IsZero() {
			t.Error("it was founded all the same")
		}
	})
}

// A founder whose folder is emptied while the founding is half way is lost to
// the draw; the others, if they are most, go on, and it is told how to come in.
func TestFounderWipedHalfWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		tr.crash = func(name, step string) bool { return name == "a" && step == "found c:7412" }
		a, b, c := tr.start("a"), tr.start("b"), tr.start("c")
		<-a.done
		a.stop()
		c.stop()
		tr.stopCrashing()
		os.RemoveAll(filepath.Join(tr.dirs, "c"))
		a, c = tr.start("a"), tr.start("c")
		allReady(10*time.Second, a, b)
		oneClusterOf := a.identity.founders()
		if !reflect.DeepEqual(b.identity.founders(), oneClusterOf) || len(oneClusterOf) != 3 {
			t.Errorf("%v and %v", oneClusterOf, b.identity.founders())
		}
		twoCommands(t, c.refused(20*time.Second), c)
	})
}

func TestMostFoundersWipedHalfWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		tr.crash = func(name, step string) bool { return name == "a" && strings.HasPrefix(step, "found ") }
		a, b, c := tr.start("a"), tr.start("b"), tr.start("c")
		<-a.done
		for _, n := range []*trialNode{a, b, c} {
			n.stop()
		}
		tr.stopCrashing()
		os.RemoveAll(filepath.Join(tr.dirs, "b"))
		os.RemoveAll(filepath.Join(tr.dirs, "c"))
		a = tr.start("a")
		tr.start("b")
		tr.start("c")
		if err := a.refused(10 * time.Second); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), "empty the data folders of all") {
			t.Errorf("%v", err)
		}
	})
}

// What a founder refuses of a draw, whoever sends it.
func TestHostileDraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newTrial(t).start("b")
		own := n.identity.id()
		good := []peer.Founder{{ID: "a/1", Peer: "a:7412"}, {ID: own, Peer: "b:7412"}, {ID: "c/1", Peer: "c:7412"}}
		with := func(change func([]peer.Founder) []peer.Founder) []peer.Founder { return change(slices.Clone(good)) }
		for name, tt := range map[string]struct {
			from   string
			voters []peer.Founder
		}{
			"from one who does not draw": {"c/1", good},
			"from nobody of the draw":    {"a/2", good},
			"too few":                    {"a/1", good[:2]},
			"one twice":                  {"a/1", with(func(v []peer.Founder) []peer.Founder { v[2] = v[0]; return v })},
			"another address":            {"a/1", with(func(v []peer.Founder) []peer.Founder { v[2].Peer = "x:1"; return v })},
			"without this node":          {"a/1", with(func(v []peer.Founder) []peer.Founder { v[1].ID = "b/2"; return v })},
		} {
			if err := n.found(t.Context(), tt.from, peer.Founding{Cluster: offset.ClusterID{1}, Founders: tt.voters}); !errors.Is(err, offset.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !n.identity.cluster().IsZero() {
			t.Fatal("one of them was taken")
		}
		draw := peer.Founding{Cluster: offset.ClusterID{1}, Founders: good}
		for range 2 { // repeated, it is the same
			if err := n.found(t.Context(), "a/1", draw); err != nil {
				t.Fatal(err)
			}
		}
		draw.Cluster = offset.ClusterID{2}
		if err := n.found(t.Context(), "a/1", draw); !errors.Is(err, offset.ErrForeignCluster) {
			t.Errorf("a second draw: %v", err)
		}
	})
}
