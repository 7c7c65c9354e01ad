package table

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// BenchmarkStructure compares what the table could stand on, at 625,000 nodes of
// 16 queues: one persistent tree of all nodes, and Go maps in shards that are
// copied whole when a root needs what was. Both hold the same nodes; measured is
// the heap, replacing nodes with a publish behind, and 10,000 queues in order.
// What the table uses, trees within a tree, is measured by BenchmarkBuild and
// BenchmarkCommit; DESIGN.md has the figures.
func BenchmarkStructure(b *testing.B) {
	const nodes = 625_000
	ids := make([]*ident, nodes)
	s := shapes["10topics"]
	for i := range ids {
		k := s.key(i/s.topics, i%s.topics, 0)
		ids[i] = &ident{k.Group, k.Topic, k.Broker}
	}
	for _, c := range []struct {
		name string
		make func() store
	}{
		{"tree", func() store { return &treeStore{gen: 1} }},
		{"maps-1024", func() store { return newMapStore(1024) }},
		{"maps-16384", func() store { return newMapStore(16384) }},
	} {
		was := heap()
		st := c.make()
		for _, id := range ids {
			st.put(&node{id: id, queues: make([]queue, 16)})
		}
		st.publish()
		b.Run(c.name+"/build", func(b *testing.B) {
			for b.Loop() {
				runtime.KeepAlive(st)
			}
			b.ReportMetric(float64(heap()-was)/nodes/16, "bytes/queue")
		})
		for _, touched := range []int{1, 640} {
			b.Run(c.name+map[int]string{1: "/touch-1", 640: "/touch-640"}[touched], func(b *testing.B) {
				defer ownThread()()
				r := rand.New(rand.NewPCG(1, 2))
				b.ReportAllocs()
				begun := cpuTime()
				for b.Loop() {
					for range touched {
						st.put(&node{id: ids[r.IntN(nodes)], queues: make([]queue, 16)})
					}
					st.publish()
				}
				b.ReportMetric(float64((cpuTime()-begun).Microseconds())/float64(b.N), "cpu-µs")
			})
		}
		b.Run(c.name+"/page", func(b *testing.B) {
			for b.Loop() {
				st.page(ids[nodes/2], 625)
			}
		})
	}
}

// store is a structure under comparison.
type store interface {
	put(n *node)
	publish()
	page(from *ident, n int)
}

// treeStore is one persistent tree, of topics first.
type treeStore struct {
	tree tree[*flat]
	root tree[*flat]
	gen  uint64
}

// flat is a node that stands in the order of topic, group, broker.
type flat struct{ node }

func (f *flat) place() place { return place{f.id, 0} }

func (t *treeStore) put(n *node) { t.tree.put(byTopic, t.gen, &flat{*n}, nil, gauge{}) }

func (t *treeStore) publish() { t.root, t.gen = t.tree, t.gen+1 }

func (t *treeStore) page(from *ident, n int) {
	c := t.root.seek(byTopic, place{from, 0}, sieve{})
	for ; n > 0; n-- {
		c.next()
	}
}

// mapStore shards by a hash of the names; a shard that a root holds is copied
// before it is changed. Order has to come from a sorted list beside.
type mapStore struct {
	shards []map[*ident]*node
	owned  []bool
	root   []map[*ident]*node
	sorted []*ident
}

func newMapStore(shards int) *mapStore {
	m := &mapStore{shards: make([]map[*ident]*node, shards), owned: make([]bool, shards)}
	for i := range m.shards {
		m.shards[i], m.owned[i] = map[*ident]*node{}, true
	}
	return m
}

func (m *mapStore) shard(id *ident) uint64 {
	return xxh3.HashString(id.group+id.topic) % uint64(len(m.shards))
}

func (m *mapStore) put(n *node) {
	i := m.shard(n.id)
	if !m.owned[i] {
		m.shards[i], m.owned[i] = maps.Clone(m.shards[i]), true
	}
	if _, ok := m.shards[i][n.id]; !ok {
		m.sorted = append(m.sorted, n.id)
	}
	m.shards[i][n.id] = n
}

func (m *mapStore) publish() { // the list of shards is copied too: roots hold it
	m.root = slices.Clone(m.shards)
	clear(m.owned)
}

func (m *mapStore) page(from *ident, n int) {
	i, _ := slices.BinarySearchFunc(m.sorted, from, func(a, b *ident) int { return byTopic.compare(place{a, 0}, place{b, 0}) })
	for ; n > 0 && i < len(m.sorted); n-- {
		runtime.KeepAlive(m.root[m.shard(m.sorted[i])][m.sorted[i]])
		i++
	}
}
