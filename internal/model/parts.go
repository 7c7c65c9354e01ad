package main

// applyPart: one entry of a removal of a group that is cut into one entry a key.
func (m *Model) applyPart(s *State, g *Msg) {
	st := &s.St
	var keys []int
	for k := 0; k < m.NK; k++ {
		if m.Group[k] == g.Key {
			keys = append(keys, k)
		}
	}
	r := m.rec(st, g.Act)
	if r == nil {
		if g.Step > 0 || m.WindowBase && g.Base < st.Evicted {
			m.hit("act refused: issued before the window")
			m.answer(s, g, rTooOld)
			return
		}
		m.remember(st, g.Act, rOK, 0, false)
		r = m.rec(st, g.Act)
	}
	if r.Done {
		m.hit("resent act gets its first answer")
		m.answer(s, g, r.Res)
		return
	}
	if g.Step != r.Next {
		m.hit("a part that was applied already")
		p := *g
		p.Step = r.Next
		if g.Cur {
			s.send(p)
		}
		return
	}
	k := keys[g.Step]
	base := g.Base
	if m.ActCheck > 0 && st.K[k].Has && st.K[k].Ep > base {
		m.hit("part leaves alone what an act moved since")
	} else {
		if st.K[k].Has {
			m.touch(s, g, k, false, 0)
			s.A[g.Act].Steps |= 1 << g.Step
		}
		last := int(g.Step) == len(keys)-1
		if !(m.PartFloorLast && !last) && !(m.PartFloorFirst && g.Step > 0) {
			m.moveFloor(s, 1+g.Key)
		}
		m.scoped(s, func(j int) bool { return m.Group[j] == g.Key })
		st.LastAct = st.Idx
		m.hit("part applied")
	}
	r.Next++
	if int(r.Next) == len(keys) {
		r.Done = true
		s.A[g.Act].Done = true
		m.answer(s, g, rOK)
		return
	}
	p := *g
	p.Step = r.Next
	s.send(p)
}

// roundtrip is what a restart from a snapshot leaves.
func (m *Model) roundtrip(a Store) Store {
	b := a
	switch m.SnapOmit {
	case "epochs":
		for k := range b.K {
			if b.K[k].Has {
				b.K[k].Ep = 0
			}
		}
	case "indexes":
		for k := range b.K {
			if b.K[k].Has {
				b.K[k].Idx = b.K[k].Ep
			}
		}
	case "floor":
		b.Floor = 0
	case "scope floors":
		b.Fl, b.NFl = [maxFl]ScopeFloor{}, 0
	case "window":
		b.Win, b.NWin = [maxW]ActRec{}, 0
	case "evicted":
		b.Evicted = 0
	case "import":
		b.ImpID, b.ImpNext, b.ImpBase = 0, 0, 0
	case "pending":
		for k := range b.K {
			b.K[k].Pend = false
		}
	case "claims":
		b.Cla = [maxG + 1]uint8{}
	case "last act":
		b.LastAct = 0
	}
	return b
}
