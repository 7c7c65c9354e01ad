package table

import (
	"maps"
	"slices"
	"sort"
)

// floors hold, for each of the last scopes that lost keys, the index of the last
// entry that removed or replaced keys of it: the epoch of a key that does not
// exist. Published ones never change.
type floors struct {
	// all is the floor of every key: of a replace of all, or what the forgotten
	// scopes had.
	all uint64
	// list is in the order in which the floors moved, so by index.
	list []Floor
	at   map[scope]uint64
	sum  sum
	gen  uint64
	// limit is Bounds.Floors.
	limit int
}

// scope is a group or a topic.
type scope struct {
	topic bool
	name  string
}

// of returns the floor of a key.
func (f *floors) of(group, topic string) uint64 {
	if len(f.at) == 0 {
		return f.all
	}
	return max(f.all, f.at[scope{false, group}], f.at[scope{true, topic}])
}

// own returns f, or a copy to be changed.
func (f *floors) own(gen uint64) *floors {
	if f.gen == gen {
		return f
	}
	return &floors{f.all, slices.Clone(f.list), maps.Clone(f.at), f.sum, gen, f.limit}
}

// move raises the floor of a scope to index; the oldest scope makes room.
func (f *floors) move(sc scope, index uint64) {
	if was, ok := f.at[sc]; ok {
		f.remove(sc, was)
	} else if len(f.list) >= f.limit {
		oldest := f.list[0]
		f.all = max(f.all, oldest.Index)
		f.remove(scope{oldest.Topic, oldest.Name}, oldest.Index)
	}
	f.append(Floor{sc.topic, sc.name, index, f.order(index)})
}

// order is that of a floor which moves now.
func (f *floors) order(index uint64) uint32 {
	if n := len(f.list); n > 0 && f.list[n-1].Index == index {
		return f.list[n-1].Order + 1
	}
	return 0
}

func (f *floors) append(x Floor) {
	f.list = append(f.list, x)
	f.at[scope{x.Topic, x.Name}] = x.Index
	f.sum = add(f.sum, x.hash())
}

func (f *floors) remove(sc scope, index uint64) {
	i := sort.Search(len(f.list), func(i int) bool { return f.list[i].Index >= index })
	for f.list[i].Topic != sc.topic || f.list[i].Name != sc.name {
		i++
	}
	f.sum = sub(f.sum, f.list[i].hash())
	f.list = slices.Delete(f.list, i, i+1)
	delete(f.at, sc)
}

// moveAll raises the floor of every key.
func (f *floors) moveAll(index uint64) {
	f.all, f.list, f.at, f.sum = index, nil, map[scope]uint64{}, sum{}
}
