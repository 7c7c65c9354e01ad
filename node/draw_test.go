package node

import (
	"errors"
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

// Nobody draws while one of the founders has another list, whether it differs
// in who, where, or in being there at all.
func TestFoundersThatDisagree(t *testing.T) {
	for _, x := range []struct {
		name, says string
		change     func(*foundingConfig)
	}{
		{"one more", "d=d:7412", func(c *foundingConfig) { c.initial = append(c.initial, Founder{"d", "d:7412"}) }},
		{"another address", "c=cc:7412", func(c *foundingConfig) { c.initial[2].Peer = "cc:7412" }},
		{"none", "started without one", func(c *foundingConfig) { c.initial = nil }},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := newTrial(t)
				b := tr.start("b", x.change)
				c := tr.start("c")
				a := tr.start("a")
				err := a.refused(10 * time.Second)
				if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "--initial-cluster") || !strings.Contains(err.Error(), x.says) {
					t.Errorf("%v", err)
				}
				for _, n := range []*trialNode{a, b, c} {
					if !n.identity.cluster().IsZero() {
						t.Errorf("%s was founded all the same", n.name)
					}
				}
			})
		})
	}
}

// A draw that another list would make is refused all the same, as by a node
// that does not tell its list.
func TestADrawIsHeldToTheOwnList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrial(t)
		b := tr.start("b")
		draw := peer.Founding{Cluster: drawCluster(), Founders: []peer.Founder{{ID: "a/1", Peer: "a:7412"}, {ID: b.identity.id(), Peer: "b:7412"}}}
		err := b.found(t.Context(), "a/1", draw)
		if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "must be the same on all founders") {
			t.Errorf("%v", err)
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
