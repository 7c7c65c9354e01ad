package table

import "maps"

// floors hold, for each of the last scopes that lost keys, the index of the last
// entry that removed or replaced keys of it: the epoch of a key that does not
// exist. Published ones never change.
type floors struct {
	// all is the floor of every key: of a replace of all, or what the forgotten
	// scopes had.
	all uint64
	// list is in the order in which the floors moved, so by index. What at does not
	// have so has moved again since, or is forgotten. Copies share it: each only cuts
	// its front, and writes beyond shared.
	list   []Floor
	shared int
	at     map[scope]moved
	sum    sum
	gen    uint64
	// limit is Bounds.Floors.
	limit int
}

// moved is when a floor moved: its index, and its order within that.
type moved struct {
	index uint64
	order uint32
}

// scope is a group or a topic.
type scope struct {
	topic bool
	name  string
}

func newFloors(all, gen uint64, limit int) *floors {
	return &floors{all: all, at: map[scope]moved{}, gen: gen, limit: limit}
}

// of returns the floor of a key.
func (f *floors) of(group, topic string) uint64 {
	if len(f.at) == 0 {
		return f.all
	}
	return max(f.all, f.at[scope{false, group}].index, f.at[scope{true, topic}].index)
}

// own returns f, or a copy to be changed.
func (f *floors) own(gen uint64) *floors {
	if f.gen == gen {
		return f
	}
	return &floors{f.all, f.list, len(f.list), maps.Clone(f.at), f.sum, gen, f.limit}
}

// move raises the floor of a scope to index; the oldest scope makes room.
func (f *floors) move(sc scope, index uint64) {
	if was, ok := f.at[sc]; ok {
		f.remove(Floor{sc.topic, sc.name, was.index, was.order})
	} else if len(f.at) >= f.limit {
		f.forget()
	}
	if len(f.list) >= 2*f.limit {
		f.list, f.shared = f.live(), 0
	}
	f.append(Floor{sc.topic, sc.name, index, f.order(index)})
}

// order is that of a floor which moves now.
func (f *floors) order(index uint64) uint32 {
	for i := len(f.list) - 1; i >= 0 && f.list[i].Index == index; i-- {
		if f.has(&f.list[i]) {
			return f.list[i].Order + 1
		}
	}
	return 0
}

// append adds a floor. One that was taken away last, and from the list only by
// name, stands there already.
func (f *floors) append(x Floor) {
	if n := len(f.list); n == 0 || f.list[n-1] != x {
		f.list = append(f.list, x)
	}
	f.at[scope{x.Topic, x.Name}] = moved{x.Index, x.Order}
	f.sum = add(f.sum, x.hash())
}

// remove takes a floor away, from the end of the list too if nobody shares that.
func (f *floors) remove(x Floor) {
	f.sum = sub(f.sum, x.hash())
	delete(f.at, scope{x.Topic, x.Name})
	if n := len(f.list); n > f.shared && f.list[n-1] == x {
		f.list = f.list[:n-1]
	}
}

// forget takes the oldest floor away, and raises that of all to it.
func (f *floors) forget() {
	for {
		x := f.list[0]
		f.list, f.shared = f.list[1:], max(f.shared-1, 0)
		if f.has(&x) {
			f.all = max(f.all, x.Index)
			f.remove(x)
			return
		}
	}
}

// has reports whether a floor of the list is that of its scope.
func (f *floors) has(x *Floor) bool {
	at, ok := f.at[scope{x.Topic, x.Name}]
	return ok && at == moved{x.Index, x.Order}
}

// live lists the floors in the order in which they moved.
func (f *floors) live() []Floor {
	list := make([]Floor, 0, len(f.at))
	for i := range f.list {
		if f.has(&f.list[i]) {
			list = append(list, f.list[i])
		}
	}
	return list
}

// moveAll raises the floor of every key.
func (f *floors) moveAll(index uint64) {
	*f = *newFloors(index, f.gen, f.limit)
}
