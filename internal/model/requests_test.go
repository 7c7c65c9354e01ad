package main

import "slices"

// setAct is the number that all Sets share, and so what acts may be issued in one
// history: the model's notes on them have no room for more.
const setAct = maxA - 1

// next makes a request up, goes on with what is under way, or sends an old one
// again. It reports false if that came to nothing.
func (d *duel) next() (Msg, bool) {
	if len(d.sent) > 0 && d.IntN(5) == 0 {
		g := d.sent[d.IntN(len(d.sent))]
		return g, d.comparable(&g)
	}
	g, ok := Msg{}, true
	switch n := d.IntN(20); {
	case n < 8:
		g = d.commit()
	case n < 11:
		g, ok = d.set()
	case n < 15:
		g, ok = d.goOn()
	default:
		g, ok = d.newAct()
	}
	if !ok || !d.comparable(&g) {
		return g, false
	}
	d.sent = append(d.sent, g)
	return g, true
}

// commit is a consumer's, with an epoch that was read now or earlier.
func (d *duel) commit() Msg {
	g := Msg{Kind: mCommit, Who: uint8(d.IntN(maxC)), Key: uint8(d.IntN(maxK)), Val: int8(d.IntN(4))}
	g.Ep = d.m.epochOf(&d.s.St, int(g.Key))
	if len(d.saw) > 0 && d.IntN(3) == 0 {
		x := d.saw[d.IntN(len(d.saw))]
		g.Key, g.Ep = x.key, x.epoch
	}
	if d.IntN(30) == 0 {
		g.Ep++ // of no state
	}
	g.Cl = d.foreign()
	return g
}

func (d *duel) foreign() uint8 {
	if d.IntN(30) == 0 {
		return 1
	}
	return 0
}

// set is a consumer's own or an operator's, on what it saw. The model's operator
// compares the index, the table's the key's own epoch and its offset: of what was
// seen between two entries they say the same.
func (d *duel) set() (Msg, bool) {
	if len(d.saw) == 0 {
		return Msg{}, false
	}
	x := d.saw[max(0, len(d.saw)-1-d.IntN(3))]
	g := Msg{Kind: mAct, AK: aSet, Act: setAct, Key: x.key, Val: int8(d.IntN(4)), RHas: x.pos.Has, ROff: x.pos.Off}
	if d.IntN(2) == 0 {
		g.Who, g.Ep, g.REp, g.Cla = maxC, x.index, x.own, d.through()
	} else {
		g.Who, g.REp, g.Cl = uint8(d.IntN(maxC)), x.epoch, d.foreign()
	}
	return g, true
}

// through is the claim of the holder that an act comes through: mostly none.
func (d *duel) through() uint8 {
	if d.IntN(3) > 0 {
		return 0
	}
	return d.s.St.Cla[d.IntN(maxG+1)]
}

// goOn sends what comes next of the cut removal or the import that is under way.
func (d *duel) goOn() (Msg, bool) {
	if g := d.cut; g.Kind == mPart && d.IntN(2) == 0 {
		if r := d.m.rec(&d.s.St, g.Act); r != nil && !r.Done {
			g.Step = r.Next
			return g, true
		}
	}
	st := &d.s.St
	if st.ImpID == 0 {
		return Msg{}, false
	}
	g := Msg{Kind: mAct, Who: maxC, Act: st.ImpID, AK: d.kinds[st.ImpID], Base: d.base(), Step: st.ImpNext}
	if g.AK == aImpReplace {
		g.Step = 1
	}
	switch d.IntN(12) {
	case 0:
		g.AK, g.Key2, g.Step = aAbort, st.ImpID, 0
	case 1:
		if g.AK == aImpMerge {
			g.Step = min(g.Step+1, maxK) // one too far
		}
	}
	return g, true
}

// base is an index that an issuer read, mostly lately.
func (d *duel) base() uint8 {
	return uint8(max(1, int(d.s.St.Idx)-d.IntN(2)*d.IntN(12)))
}

func (d *duel) newAct() (Msg, bool) {
	if d.acts+1 == setAct {
		return Msg{}, false
	}
	kinds := []uint8{aReset, aReset, aClaim, aImpMerge, aImpReplace, aRemoveG, aRemoveT, aClone, aExpire}
	if d.parts {
		kinds = []uint8{aReset, aReset, aClaim, aImpMerge, aImpReplace, aRemoveParts, aRemoveParts, aRemoveParts}
	}
	d.acts++
	g := Msg{Kind: mAct, Who: maxC, AK: kinds[d.IntN(len(kinds))], Act: d.acts, Base: d.base(), Key: uint8(d.IntN(2)), Val: int8(d.IntN(4))}
	switch g.AK {
	case aReset, aRemoveG, aExpire:
		g.Cla = d.through()
	}
	switch g.AK {
	case aClone:
		g.Key2 = 1 - g.Key
	case aExpire:
		g.Ep = d.base()
	case aClaim:
		g.Key = uint8(d.IntN(maxG + 1))
	case aRemoveParts:
		if r := d.m.rec(&d.s.St, d.cut.Act); r != nil && !r.Done {
			return g, false // one at a time
		}
		g.Kind = mPart
		d.cut = g
	}
	d.kinds[g.Act] = g.AK
	return g, true
}

// comparable tells whether model and table are to agree on a request. They are
// not where the table, which does not know the keys that do not exist, goes by the
// floor of a scope, or by the keys there are, and the model by each key.
func (d *duel) comparable(g *Msg) bool {
	st := &d.s.St
	r := d.m.rec(st, g.Act)
	fresh := r == nil && g.Base >= st.Evicted
	switch g.AK {
	case aRemoveG, aExpire:
		in := d.keys(func(k int) bool { return d.m.Group[k] == g.Key })
		if fresh && g.Cla > 0 && st.Cla[0] > g.Cla && !d.any(in, present) {
			return false
		}
		return g.AK == aExpire || !fresh || d.removable(g, in, 1+g.Key)
	case aRemoveT:
		return !fresh || d.removable(g, d.keys(func(k int) bool { return d.m.Topic[k] == g.Key }), 100+g.Key)
	case aRemoveParts:
		in := d.keys(func(k int) bool { return d.m.Group[k] == g.Key })
		if fresh {
			return g.Step > 0 || present(st, in[0]) && present(st, in[1])
		}
		return r == nil || r.Done || g.Step != r.Next || present(st, in[r.Next])
	}
	return true
}

func present(st *Store, k int) bool { return st.K[k].Has }

func (d *duel) keys(in func(k int) bool) (list []int) {
	for k := range maxK {
		if in(k) {
			list = append(list, k)
		}
	}
	return list
}

func (d *duel) any(list []int, is func(*Store, int) bool) bool {
	return slices.ContainsFunc(list, func(k int) bool { return is(&d.s.St, k) })
}

// removable tells whether both decide alike if all keys of a scope are newer.
func (d *duel) removable(g *Msg, in []int, scope uint8) bool {
	old := func(st *Store, k int) bool { return d.m.ownEpoch(st, k) <= g.Base }
	if d.any(in, present) {
		return d.any(in, func(st *Store, k int) bool { return present(st, k) && old(st, k) }) || !d.any(in, old)
	}
	floor := d.s.St.Floor
	for _, f := range d.s.St.Fl[:d.s.St.NFl] {
		if f.Scope == scope {
			floor = max(floor, f.Idx)
		}
	}
	return d.any(in, old) == (floor <= g.Base)
}
