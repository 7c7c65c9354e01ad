package table

import (
	"encoding/binary"
	"slices"
	"strings"
)

// minHeads is how many keys a page has before it keeps heads of them.
const minHeads = 6

// heads lets a page be searched with hardly a look at the names themselves, each of
// which is three steps through memory away: it knows what all keys of the page have
// in common, and of each the four bytes after that. Copies of a page share it; it is
// changed only in the generation that it was made in.
type heads struct {
	gen uint64
	// What the keys have in common: the fields before field, which lead has too,
	// and the first bytes of that one. Pages share prefix, so that it is at hand.
	lead   *ident
	field  uint8
	prefix string
	// at has a head for each key: ascending, since the keys are. Keys with the
	// same head are distinguished by their names.
	at []uint32
}

// The room for heads comes with them, in one piece of a size that fits.
type (
	heads12 struct {
		heads
		room [12]uint32
	}
	heads36 struct {
		heads
		room [36]uint32
	}
)

// withRoom makes room for n heads, none of them there yet.
func withRoom(n int) *heads {
	if n <= 12 {
		h := &heads12{}
		h.at = h.room[:0]
		return &h.heads
	}
	h := &heads36{}
	h.at = h.room[:0]
	return &h.heads
}

// newHeads makes the heads of n keys in ascending order; nil for few. like are
// those of another page that may have the same in common; nil if there is none.
func newHeads(o order, gen uint64, like *heads, n int, key func(int) place) *heads {
	if n < minHeads {
		return nil
	}
	h := withRoom(n)
	h.gen, h.lead = gen, key(0).ident
	h.field, h.prefix = o.common(key(0), key(n-1))
	if like != nil && like.field == h.field && like.prefix == h.prefix {
		h.lead, h.prefix = like.lead, like.prefix
	}
	for i := range n {
		h.at = append(h.at, h.head(o, key(i)))
	}
	return h
}

// bounds narrows a search among n keys: those before lo are below k, those from
// hi on are above it, those between have its head.
func (h *heads) bounds(o order, k place, n int) (lo, hi int) {
	if h == nil {
		return 0, n
	}
	switch c := h.compareLead(o, k); {
	case c < 0:
		return 0, 0
	case c > 0:
		return n, n
	}
	x := h.head(o, k)
	for l := n; lo < l; {
		if m := int(uint(lo+l) >> 1); h.at[m] < x {
			lo = m + 1
		} else {
			l = m
		}
	}
	for hi = lo; hi < n && h.at[hi] == x; hi++ {
	}
	return lo, hi
}

// compareLead compares k with what the keys have in common; 0: it has that too.
func (h *heads) compareLead(o order, k place) int {
	for f := range h.field {
		if c := strings.Compare(o.name(k.ident, f), o.name(h.lead, f)); c != 0 {
			return c
		}
	}
	if h.prefix == "" {
		return 0
	}
	s := o.name(k.ident, h.field)
	return strings.Compare(s[:min(len(s), len(h.prefix))], h.prefix)
}

// head is that of a key which has what the others have in common.
func (h *heads) head(o order, k place) uint32 {
	if o == byRun && h.field == 1 {
		return uint32(k.first) ^ 1<<31
	}
	s := o.name(k.ident, h.field)
	if s = s[min(len(s), len(h.prefix)):]; len(s) >= 4 {
		return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
	}
	var b [4]byte
	copy(b[:], s)
	return binary.BigEndian.Uint32(b[:])
}

// insert returns the heads with that of k at i. It returns nil if k has less in
// common: then they must be rebuilt.
func (h *heads) insert(o order, gen uint64, i int, k place) *heads {
	if h == nil || h.compareLead(o, k) != 0 {
		return nil
	}
	if h.gen != gen || len(h.at) == cap(h.at) {
		h = h.clone(gen, len(h.at)+1)
	}
	h.at = slices.Insert(h.at, i, h.head(o, k))
	return h
}

// remove returns the heads without that at i.
func (h *heads) remove(gen uint64, i int) *heads {
	if h == nil {
		return nil
	}
	if h.gen != gen {
		h = h.clone(gen, len(h.at))
	}
	h.at = slices.Delete(h.at, i, i+1)
	return h
}

func (h *heads) clone(gen uint64, n int) *heads {
	c := withRoom(n)
	c.gen, c.lead, c.field, c.prefix = gen, h.lead, h.field, h.prefix
	c.at = append(c.at, h.at...)
	return c
}
