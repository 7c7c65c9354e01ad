package main

// What a broker with consumers behind it takes over from the store, and when:
// at its start, once a second, after a fence, for a slave's 14, at a promotion.

// begin is the start of slot i, in its present role.
func (m *Model) begin(s *State, i int) {
	c := &s.C[i]
	s.forget(uint8(i), true)
	l := *c
	*c = Cons{Slot: Slot{Master: l.Master, Held: l.Held, HasHeld: l.HasHeld && !m.NoFile}, Cl: l.Cl, Off: l.Off}
	if c.Master {
		m.beginClaim(s, i)
		return
	}
	m.look(s, i, true)
}

// beginClaim: slot i claims the broker's name; what it holds stays until the answer.
func (m *Model) beginClaim(s *State, i int) bool {
	if s.NA+1 >= maxA {
		return false
	}
	s.NA++
	c := &s.C[i]
	c.Phase, c.Act, c.Base, c.ClaimCl, c.Sends = cClaim, s.NA, s.St.Idx, s.St.Cluster, 0
	return m.sendClaim(s, i)
}

// promote: a slave becomes a master. What it has sent is under way, what is left
// of its values is dropped.
func (m *Model) promote(s *State, i int) bool {
	c := &s.C[i]
	if !m.PromoteKeeps {
		m.dropMarked(s, i)
	}
	s.forget(uint8(i), true)
	c.Master = true
	return m.beginClaim(s, i)
}

// demote: an old master that has lost its claim comes back as a slave.
func (m *Model) demote(s *State, i int) {
	c := &s.C[i]
	c.Master = false
	m.begin(s, i)
}

// view is what a read of the store says of a key.
type view struct {
	has, pend           bool
	off                 int8
	idx, own, claim, ep uint8
	cl                  uint8
	at                  uint8 // ghost time
}

func (m *Model) view(s *State, k int) view {
	p := s.St.K[k]
	return view{p.Has, p.Has && p.Pend, p.Off, m.indexOf(&s.St, k), m.ownEpoch(&s.St, k), m.claimOf(&s.St, k), m.epochOf(&s.St, k), s.St.Cluster, s.Now}
}

// moved tells whether an act has moved the key of slot i since it was read. A key
// that was not there, and was created under a new claim, has that claim's epoch;
// one that was there must have been removed before.
func (m *Model) moved(c *Cons, v view, start bool) bool {
	held, known := c.Ep, true
	if start && c.Ep == 0 { // what it held is gone
		held, known = c.Held, c.HasHeld
	}
	own := v.own
	if m.MovedByClaim {
		return v.ep > held
	}
	return start && v.pend && !m.PendingOpen || known && own > held && (own != v.claim || c.Off >= 0 && !m.CreatedStays || m.CreatedCloses)
}

// look takes over what the store has of the key of slot i now.
func (m *Model) look(s *State, i int, start bool) { m.takeOver(s, i, m.view(s, int(m.Cons[i])), start) }

func (m *Model) takeOver(s *State, i int, v view, start bool) {
	c, k := &s.C[i], int(m.Cons[i])
	other := c.Cl != v.cl && (!start || c.HasHeld)
	if c.Master && (v.claim > c.Claim && !m.OldMasterFollows || c.ClaimCl != v.cl) {
		m.lost(s, i)
		return
	}
	moved := other && !m.ForeignOpen || m.moved(c, v, start)
	if m.NoSpurious && moved && !other && !start && s.G[k].Named <= c.ReadAt {
		s.bad("P5: C%d closes key %d though no act has moved it", i, k)
	}
	fresh := c.Phase == cUnread || c.Phase == cClaim && c.Ep == 0
	if moved && m.NotClosed {
		moved, fresh = false, true
	}
	switch {
	case fresh || moved && !m.KeepsValue:
		c.Mem, c.Rests = max(v.off, 0), v.at
	case c.Phase != cTaken && v.off > c.Mem:
		c.Mem, c.Rests = v.off, v.at
	}
	if (c.Phase == cMarked || c.Phase == cWait) && (c.MEp != v.ep || c.MCl != v.cl) {
		if c.Phase == cMarked && m.Restamp {
			c.MEp, c.MCl = v.ep, v.cl
		} else {
			m.dropMarked(s, i)
		}
	}
	c.Off = no
	if v.has {
		c.Off = v.off
	}
	c.Ep, c.Cl, c.Idx, c.Started, c.ReadAt = v.ep, v.cl, v.idx, v.at, v.at
	if !c.Master {
		c.Born = v.at
	}
	m.close(s, i, v, moved, start)
}

// close is what becomes of the consumers' values for the key.
func (m *Model) close(s *State, i int, v view, moved, start bool) {
	c := &s.C[i]
	switch {
	case moved:
		m.hit("key closed")
		if c.Phase != cMarked { // planted: it keeps its value
			c.Phase = cReady
		}
		if c.Master && v.has && v.pend {
			c.Phase = cAssigned
		}
		c.Closed, c.Open, c.Taker, c.HasHeld = true, 0, 0, true // the file's mark stays before the act until somebody has followed
		if m.MarkGoesOn {
			c.opened()
		}
		return
	case !c.Closed:
		c.opened()
	case m.Forgetful && !v.pend:
		c.Closed, c.Open = false, 0
	case m.PromoteOpens && start:
		c.Closed, c.Open = false, 0
	}
	if c.Phase == cUnread || c.Phase == cClaim || c.Phase == cFrozen {
		c.Phase = cReady
	}
}

// lost: the key is another's.
func (m *Model) lost(s *State, i int) {
	c := &s.C[i]
	s.forget(uint8(i), true)
	*c = Cons{Phase: cLost, Cl: c.Cl, Off: c.Off, Slot: Slot{Master: true, Held: c.Held, HasHeld: c.HasHeld}}
	m.hit("old master stops")
}

// fresh tells whether asking would tell slot i anything.
func (m *Model) fresh(s *State, i int) bool {
	c, k := &s.C[i], int(m.Cons[i])
	return m.epochOf(&s.St, k) != c.Ep || c.Cl != s.St.Cluster || m.indexOf(&s.St, k) != c.Idx
}
