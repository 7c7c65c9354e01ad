package verify

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// maxGroups is how many groups a part of a history may have.
const maxGroups = 4

// cell is the sequential state of one queue in all groups of a part: what
// clients can learn of it, without indexes and times. It is a value.
type cell [maxGroups]one

// one is a key. Of epoch, floor and claim each may be open: the index of an
// entry that nobody was told, until an answer tells it.
type one struct {
	exists, pending bool
	offset          int64
	// epoch is its own, of a key that exists; floor is that of one that does
	// not; claim is the newest of its scopes.
	epoch, floor, claim uint64
}

// open is the bit that marks an index that is not known; the rest tells which.
const open = 1 << 63

// own is the epoch that operators' acts look at.
func (k *one) own() uint64 {
	if k.exists {
		return k.epoch
	}
	return k.floor
}

// bind puts an index in the place of an open one.
func (c *cell) bind(unknown, index uint64) {
	for i := range c {
		for _, v := range []*uint64{&c[i].epoch, &c[i].floor, &c[i].claim} {
			if *v == unknown {
				*v = index
			}
		}
	}
}

// is tells whether v can be index, and makes it so.
func (c *cell) is(v, index uint64) bool {
	if v&open != 0 {
		c.bind(v, index)
		return true
	}
	return v == index
}

// observe tells whether key i can be what an answer says, and takes over what
// that tells of open indexes.
func (c *cell) observe(i int, st *offset.KeyState) bool {
	k := c[i]
	if k.exists != st.Exists || k.exists && (k.offset != st.Position.Offset || k.pending != st.Position.Pending) {
		return false
	}
	return st.Epoch == max(st.Position.Epoch, st.Claim) && c.is(k.own(), st.Position.Epoch) && c.is(c[i].claim, st.Claim)
}

// carrying lists what the cell can be if e is what a commit of key i must carry.
func (c cell) carrying(i int, e uint64) (list []cell) {
	own, claim := c[i].own(), c[i].claim
	if own&open == 0 && claim&open == 0 {
		if max(own, claim) == e {
			return []cell{c}
		}
		return nil
	}
	// Either is e and the other at most that; what stays open is not bounded.
	for _, x := range [][2]uint64{{own, claim}, {claim, own}} {
		if other := x[1]; other&open == 0 && other > e {
			continue
		}
		if y := c; y.is(x[0], e) {
			list = append(list, y)
		}
	}
	return list
}

// advance is a commit that is taken.
func (c *cell) advance(i int, value int64, epoch uint64) {
	k := &c[i]
	if !k.exists {
		*k = one{exists: true, offset: value, epoch: epoch, floor: k.floor, claim: k.claim}
		return
	}
	k.offset, k.pending = max(k.offset, value), false
}

// write is what an act puts on a key.
func (c *cell) write(i int, value int64, mark bool, index uint64) {
	k := &c[i]
	*k = one{exists: true, offset: value, epoch: index, pending: mark || k.exists && k.pending, floor: k.floor, claim: k.claim}
}

// remove removes a key; its floor moves with its scope.
func (c *cell) remove(i int) { c[i] = one{floor: c[i].floor, claim: c[i].claim} }

var seed = maphash.MakeSeed()

func hash(c cell) uint64 { return maphash.Comparable(seed, c) }

// String is for drawings.
func (c cell) String() string {
	index := func(v uint64) string {
		if v&open != 0 {
			return "?"
		}
		return fmt.Sprint(v)
	}
	var list []string
	for i := range c {
		k := &c[i]
		if *k == (one{}) {
			continue
		}
		s := fmt.Sprintf("none@%s", index(k.floor))
		if k.exists {
			s = fmt.Sprintf("%d@%s", k.offset, index(k.epoch))
		}
		if k.pending {
			s += " pending"
		}
		if k.claim > 0 {
			s += " claim " + index(k.claim)
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}
