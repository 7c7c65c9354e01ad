package main

// succBehind: what brokers with consumers behind them do, and these consumers.
func (m *Model) succBehind(s, n *State, d text, emit func(*State, string)) {
	m.succValues(s, n, d, emit)
	for i := range m.Cons {
		m.succSlot(s, n, i, d, emit)
		m.succRole(s, n, i, d, emit)
	}
	for u := range s.U[:s.NU] {
		for i := range m.Cons {
			if m.UserAt[u] == 0 || m.UserAt[u]>>i&1 == 1 {
				m.succUser(s, n, u, i, d, emit)
			}
		}
	}
}

// succValues: something that a consumer sent arrives, or an answer to it.
func (m *Model) succValues(s, n *State, d text, emit func(*State, string)) {
	for j, g := range s.Net[:s.N] {
		i, u := int(g.Key), int(g.Who)-user
		switch {
		case g.Kind == mValue && (g.Step == 0 || m.Overtaking) && s.C[i].Phase != cMarked && s.C[i].Phase != cWait:
			*n = *s
			m.arrive(n, j)
			emit(n, d("C%d gets %d from U%d: %s", i, g.Val, u, slotText(&s.C[i], &n.C[i])))
		case g.Kind == mMoved:
			*n = *s
			n.drop(j)
			n.U[u].Mem, n.U[u].Basis, n.U[u].Owes = g.Val, g.Started, true
			n.stands(u, int(m.Cons[i]))
			emit(n, d("U%d is told to go on at %d", u, g.Val))
			*n = *s
			n.drop(j)
			emit(n, d("U%d waits no longer for its pull", u))
		case g.Kind == mRead:
			*n = *s
			n.drop(j)
			m.readArrives(n, i, u, g)
			emit(n, d("the read for U%d comes back to C%d: %s", u, i, slotText(&s.C[i], &n.C[i])))
		}
	}
}

// succSlot: what broker i does on its own.
func (m *Model) succSlot(s, n *State, i int, d text, emit func(*State, string)) {
	c := &s.C[i]
	does := func(ok bool, f string, a ...any) {
		if ok {
			emit(n, d(f, a...))
		}
	}
	*n = *s
	switch c.Phase {
	case cUnread:
		m.begin(n, i)
		does(true, "C%d starts (master: %v); %s", i, c.Master, m.posOf(s, int(m.Cons[i])))
		return
	case cLost:
		return
	case cClaim:
		if s.Resends > 0 {
			n.Resends--
			n.forget(uint8(i), false)
			does(m.sendClaim(n, i), "C%d: deadline passed, resends its claim (act #%d)", i, c.Act)
		}
		return
	case cMarked:
		does(m.sendMarked(n, i), "C%d sends %d with epoch %d", i, c.Val, n.Net[n.N-1].Ep)
	case cWait:
		if s.Resends > 0 {
			n.Resends--
			n.forget(uint8(i), false)
			does(m.sendMarked(n, i), "C%d: deadline passed, resends %d with epoch %d", i, c.Val, c.MEp)
		}
	case cTaken:
		n.C[i].Phase = cAssigned
		does(true, "C%d: 15 s later nobody has followed, the reset is assigned again", i)
	}
	if m.fresh(s, i) || c.Phase == cFrozen {
		*n = *s
		m.look(n, i, false)
		does(true, "C%d follows: reads %s; %s", i, m.posOf(s, int(m.Cons[i])), slotText(c, &n.C[i]))
	}
	if c.Closed && !s.St.K[m.Cons[i]].Has && c.Phase == cReady && !s.toward(i) && m.allFollowed(s) {
		*n = *s
		m.lift(n, i)
		does(true, "C%d: 15 s after the removal consumers are believed again", i)
	}
}

// lift: nothing that was sent before the removal was seen is under way any more;
// consumers that go on create the key anew.
func (m *Model) lift(s *State, i int) {
	m.look(s, i, false)
	s.C[i].Closed, s.C[i].Open = false, 0
	s.C[i].opened()
	for u := range s.U[:s.NU] {
		s.U[u].Basis = s.Now
	}
}

func (m *Model) allFollowed(s *State) bool {
	for i := range m.Cons {
		if p := s.C[i].Phase; p != cUnread && p != cLost && m.fresh(s, i) {
			return false
		}
	}
	return true
}

func (s *State) toward(i int) bool {
	for _, g := range s.Net[:s.N] {
		if g.Kind == mValue && g.Key == uint8(i) {
			return true
		}
	}
	return false
}

// succRole: crashes, promotions, an old master that comes back.
func (m *Model) succRole(s, n *State, i int, d text, emit func(*State, string)) {
	c := &s.C[i]
	if s.Restarts > 0 && c.Phase != cUnread && c.Phase != cLost {
		*n = *s
		n.Restarts--
		m.begin(n, i)
		n.hangUp(i)
		emit(n, d("C%d crashes and starts again (master: %v)", i, c.Master))
	}
	if s.Promotes > 0 && !c.Master && c.Phase != cUnread {
		*n = *s
		n.Promotes--
		if m.promote(n, i) {
			emit(n, d("C%d is promoted, and claims (act #%d, base %d)", i, n.C[i].Act, n.C[i].Base))
		}
	}
	if s.Demotes > 0 && c.Phase == cLost {
		*n = *s
		n.Demotes--
		m.demote(n, i)
		emit(n, d("C%d comes back as a slave: %s", i, slotText(c, &n.C[i])))
	}
}

// hangUp: connections to broker i end with it.
func (s *State) hangUp(i int) {
	for j := 0; j < int(s.N); {
		if k := s.Net[j].Kind; (k == mValue || k == mMoved || k == mRead) && int(s.Net[j].Key) == i {
			s.drop(j)
			continue
		}
		j++
	}
}

// succUser: what consumer u does at broker i.
func (m *Model) succUser(s, n *State, u, i int, d text, emit func(*State, string)) {
	c, w := &s.C[i], &s.U[u]
	if c.Phase == cUnread || c.Phase == cClaim || c.Phase == cLost {
		return
	}
	if w.Reads > 0 && !s.reading(u) && s.queued(u, i) == 0 && !(c.Phase == cFrozen && !c.Master) {
		*n = *s
		n.U[u].Reads--
		if m.userReads(n, u, i) {
			emit(n, d("U%d reads at C%d: %d; %s", u, i, n.U[u].Mem, slotText(c, &n.C[i])))
		}
	}
	if !w.Live {
		return
	}
	if c.Phase == cAssigned && !s.pulling(u) && (s.queued(u, i) == 0 || m.PullOvertakes) {
		*n = *s
		x := &n.C[i]
		x.Phase, x.Taker = cTaken, uint8(u)
		g := Msg{Kind: mMoved, Who: user + uint8(u), Key: uint8(i), Val: c.Mem, Started: c.Rests}
		if m.Piggyback && m.sendValue(n, u, i, true) || !m.Piggyback && n.send(g) {
			emit(n, d("U%d pulls at C%d and takes the reset to %d", u, i, c.Mem))
		}
	}
	for v := w.Mem; v <= m.MaxV && v <= w.Mem+1 && w.Left > 0; v++ {
		if w.Owes && v > w.Mem {
			break
		}
		*n = *s
		x := &n.U[u]
		x.Left--
		x.Mem, x.Owes = v, false
		if m.sendValue(n, u, i, false) {
			emit(n, d("U%d sends %d to C%d", u, v, i))
		}
	}
}

func (s *State) pulling(u int) bool {
	for _, g := range s.Net[:s.N] {
		if g.Who == user+uint8(u) && (g.Kind == mMoved || g.Kind == mValue && g.AK == 1) {
			return true
		}
	}
	return false
}

func (s *State) reading(u int) bool {
	for _, g := range s.Net[:s.N] {
		if g.Kind == mRead && g.Who == user+uint8(u) {
			return true
		}
	}
	return false
}

// userReads is a 14 of consumer u to broker i.
func (m *Model) userReads(s *State, u, i int) bool {
	c, w := &s.C[i], &s.U[u]
	if !c.Master && m.ReadsTakeTime {
		v := m.view(s, int(m.Cons[i]))
		w.Live = false
		return s.send(Msg{Kind: mRead, Who: user + uint8(u), Key: uint8(i), RHas: v.has, ROff: v.off, RIdx: v.own, REp: v.ep, Cla: v.claim, Base: v.idx, Cl: v.cl, Res: b2u(v.pend), Started: v.at})
	}
	if !c.Master {
		m.look(s, i, false)
	}
	m.userStarts(s, u, i)
	return true
}

func (m *Model) userStarts(s *State, u, i int) {
	c, w := &s.C[i], &s.U[u]
	w.Live, w.Owes, w.Mem, w.Basis = true, false, c.Mem, c.Rests
	s.stands(u, int(m.Cons[i]))
	if c.Closed {
		m.hit("a consumer's read opens the key for it")
		m.opens(c, uint8(u))
	}
}

// readArrives: a slave takes over what it read for a 14, unless it has followed further.
func (m *Model) readArrives(s *State, i, u int, g Msg) {
	c := &s.C[i]
	if c.Master || c.Phase == cUnread || c.Phase == cClaim || c.Phase == cLost {
		return // the consumer asks again
	}
	v := view{g.RHas, g.Res == 1, g.ROff, g.Base, g.RIdx, g.Cla, g.REp, g.Cl, g.Started}
	if v.at < c.ReadAt && m.LateReads {
		s.U[u] = User{true, false, max(v.off, 0), s.U[u].Left, s.U[u].Reads, v.at}
		m.opens(c, uint8(u))
		return
	}
	if v.at < c.ReadAt {
		v = m.view(s, int(m.Cons[i]))
	}
	m.takeOver(s, i, v, false)
	m.userStarts(s, u, i)
}
