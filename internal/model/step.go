package main

func (m *Model) initial() State {
	var s State
	s.St.Idx, s.Now = 1, 1
	for k := 0; k < m.NK; k++ {
		s.G[k].Must = -1
		if m.Init[k] >= 0 {
			s.St.K[k] = Pos{true, m.Init[k], 1, 0, false}
			s.G[k].Must = m.Init[k]
			s.G[k].Moved = 1
		}
	}
	for i := range m.Cons {
		s.C[i].Left, s.C[i].SetLeft = m.Commits, m.SetN
	}
	for i := range m.Ops {
		s.O[i].Left = m.Ops[i].N
	}
	for i := range m.Cons {
		if m.behind() {
			s.C[i].Off = m.Init[m.Cons[i]]
		}
		s.C[i].Master, s.C[i].HasHeld = m.behind() && !m.Slave[i], m.behind() && !m.NoFile
	}
	for u := range m.Users {
		s.U[u].Left, s.U[u].Reads = m.Commits, m.Reads
	}
	s.NU, s.Promotes, s.Demotes = uint8(m.Users), m.Config.Promotes, m.Config.Demotes
	s.Resends, s.Restarts, s.Snaps, s.Looks, s.Disaster = m.Resends, m.Restarts, m.Snaps, m.Looks, m.Config.Disaster
	return s
}

func (m *Model) read(s *State, i int) {
	c, k := &s.C[i], int(m.Cons[i])
	p := s.St.K[k]
	c.Ep, c.Cl = m.epochOf(&s.St, k), s.St.Cluster
	c.ReadNone, c.Mem = !p.Has, 0
	if p.Has {
		c.Mem = p.Off
	}
	c.Started, c.ReadAt = s.Now, s.Now
	c.Maybe, c.Applied, c.Sends = false, false, 0
	c.Phase, c.Why = cReady, 0
	if m.own() {
		c.Idx, c.Off, c.Val, c.Act = m.indexOf(&s.St, k), no, 0, 0
		if p.Has {
			c.Off = p.Off
		}
	}
	if m.Claims {
		m.readClaimed(s, i)
	}
}

// start is the read a queue begins with; what was under way before is forgotten.
func (m *Model) start(s *State, i int) {
	s.forget(uint8(i), true)
	m.read(s, i)
	if m.Rule.LazyRead {
		s.C[i].Mem, s.C[i].Ep, s.C[i].Lazy = 0, 0, true
	}
}

func (m *Model) sendCommit(s *State, i int) bool {
	c := &s.C[i]
	if c.Lazy {
		c.Ep, c.Lazy = m.epochOf(&s.St, int(m.Cons[i])), false
	}
	c.Sends++
	c.Phase = cWait
	return s.send(Msg{Kind: mCommit, Who: uint8(i), Cur: true, Chain: true, Key: m.Cons[i], Val: c.Mem, Ep: c.Ep, Cl: c.Cl, Started: c.Started, Born: c.Born, Dlv: c.Dlv})
}

// reread after a fence: RemoveOffset and a read.
func (m *Model) reread(s *State, i int) string {
	c, k := &s.C[i], int(m.Cons[i])
	none := !s.St.K[k].Has
	silent := none && c.ReadNone && (m.Silent == 1 || m.Silent == 2 && !c.Maybe)
	if silent {
		m.hit("silent re-stamp")
		c.Ep, c.Cl, c.ReadAt = m.epochOf(&s.St, k), s.St.Cluster, s.Now
		c.Sends, c.Applied = 0, false
		c.Phase = cReady
		s.forget(uint8(i), true)
		return "silently"
	}
	m.hit([]string{"application told of a fence", "application told that its Set was overtaken by a commit", "application told that the outcome of its Set is unknown"}[c.Why])
	if m.TakesEpochOnly {
		c.Ep, c.Cl, c.Phase, c.Why, c.Sends, c.Applied = m.epochOf(&s.St, k), s.St.Cluster, cReady, 0, 0, false
		s.forget(uint8(i), true)
		return "takes over the epoch and keeps its value"
	}
	if m.NoSpurious && c.Why == wFenced && s.G[k].LastScope <= c.ReadAt {
		s.bad("P5: consumer C%d is told it missed an act on key %d; there was none", i, k)
	}
	s.forget(uint8(i), true)
	m.read(s, i)
	return "and the application is told"
}

func (m *Model) reply(s *State, r Msg) {
	if int(r.Who) < maxC {
		c := &s.C[r.Who]
		s.forget(r.Who, false)
		if m.behind() {
			m.slotReply(s, int(r.Who), r)
			return
		}
		if r.AK == aSet {
			m.ownReply(s, r)
			return
		}
		if r.AK == aClaim {
			m.claimReply(s, r)
			return
		}
		switch r.Res {
		case rOK:
			if m.own() {
				c.Idx, c.Off = r.RIdx, r.ROff
			}
			c.Phase, c.Sends, c.Applied, c.Maybe = cReady, 0, false, true
			s.forget(r.Who, true)
		case rFenced:
			if !m.ClaimCommit || c.Sends == 1 {
				if c.Applied {
					s.bad("P4: consumer C%d is told that its commit of %d was not applied; its first send was", r.Who, c.Mem)
				}
			} else {
				m.hit("fenced after a resend: unknown, superseded")
			}
			if m.AdoptFromAnswer {
				c.Ep, c.Phase, c.Sends, c.Applied, c.ReadAt = r.REp, cReady, 0, false, s.Now
				s.forget(r.Who, true)
				return
			}
			c.Phase = cFrozen
		}
		return
	}
	o := &s.O[r.Who-maxC]
	a := &s.A[r.Act]
	s.forget(r.Who, false)
	deny := func() { s.deny(r) }
	switch r.Res {
	case rOK:
		last := uint8(0)
		if r.AK == aImpReplace {
			last = 1
		} else if r.AK == aImpMerge {
			last = uint8(m.NK)
		}
		if r.Step < last {
			o.M.Step++
			if r.AK == aImpReplace {
				o.M.Base, o.M.Started = s.St.Idx, s.Now // the swap's base is read just before it is sent
			}
			o.Sends = 1
			s.send(o.M)
			return
		}
	case rFenced:
		if !m.ClaimSet && o.Sends > 1 && r.RHas && r.ROff == o.M.Val {
			if a.Steps == 0 {
				s.bad("P4: set #%d to %d is reported done (fenced, own value); it was never applied", r.Act, o.M.Val)
			}
		} else if !m.ClaimSet || o.Sends == 1 {
			deny()
		}
	case rTooOld, rGone:
		if r.Step == 0 && (!m.ClaimAct || o.Sends == 1) {
			deny()
		}
	case rSuperseded:
		if r.AK != aImpReplace {
			deny()
		}
	case rNotFound, rBusy:
		deny()
	}
	o.Wait, o.Sends, o.M = false, 0, Msg{}
}

func (m *Model) issue(s *State, i int, t Act) bool {
	if s.NA+1 >= maxI {
		return false
	}
	o := &s.O[i]
	if t.Kind == aAbort { // of the operator's own latest import
		if s.St.ImpID == 0 {
			return false
		}
		t.T2 = s.St.ImpID
	}
	via := Cons{}
	if v := m.Via[i]; v > 0 {
		if via = s.C[v-1]; via.Claim == 0 { // it hasn't started, or knows that it is over
			return false
		}
	}
	s.NA++
	g := Msg{Kind: mAct, Who: maxC + uint8(i), Cur: true, Key: t.T, Key2: t.T2, Val: t.Val, Base: s.St.Idx, Cl: s.St.Cluster, Act: s.NA, AK: t.Kind, Started: s.Now, Cla: via.Claim, Born: via.Born}
	switch t.Kind {
	case aSet:
		if p := s.St.K[t.T]; p.Has {
			g.Ep = p.Idx
		} else if !m.SetAbsentZero {
			g.Ep = m.floorFor(&s.St, int(t.T))
		}
		if m.SetEpochCAS {
			g.Ep = m.epochOf(&s.St, int(t.T))
		}
	case aExpire:
		n := 0
		for k := 0; k < m.NK; k++ {
			if m.Group[k] == t.T && s.St.K[k].Has {
				n++
				if s.St.K[k].Idx > g.Ep {
					g.Ep = s.St.K[k].Idx
				}
			}
		}
		if n == 0 {
			return false
		}
	}
	o.Left--
	o.Wait, o.Sends, o.M = true, 1, g
	return s.send(g)
}
