package main

// settleBehind checks that, acts ended and one live broker, a consumer that reads
// there gets a commit acknowledged in the end, one that goes on without reading
// as well where the broker is a master, and that no key stays pending then.
func (m *Model) settleBehind(s *State, n State) {
	for i := range m.Cons {
		for _, reads := range []bool{true, false} {
			e := n
			e.U[0] = User{Live: !reads, Mem: 1, Basis: e.Now, Left: 9, Reads: 9}
			ok := false
			for try := 0; try < 16 && !ok; try++ {
				ok = m.settleBroker(&e, i)
			}
			switch {
			case e.viol != "":
				s.bad("%s (in the fair run to the end)", e.viol)
			case !ok && (reads || e.C[i].Master):
				s.bad("P5: with C%d alone alive a consumer behind it (reading: %v) gets nothing acknowledged though acts have ended", i, reads)
			case ok && e.St.K[m.Cons[i]].Pend:
				s.bad("P13: key %d stays pending though acts have ended and a broker lives", m.Cons[i])
			}
		}
	}
}

// settleBroker is a step of broker i, or of the consumer behind it; true once a
// value of that is acknowledged.
func (m *Model) settleBroker(e *State, i int) bool {
	c, w := &e.C[i], &e.U[0]
	e.N, e.Net = 0, [maxNet]Msg{}
	switch c.Phase {
	case cUnread, cLost:
		m.begin(e, i)
		if c.Phase == cClaim {
			m.settleOne(e)
		}
	case cClaim:
		e.forget(uint8(i), false)
		m.sendClaim(e, i)
		m.settleOne(e)
	case cMarked, cWait:
		m.sendMarked(e, i)
		return m.settleOne(e)
	case cFrozen:
		m.look(e, i, false)
	case cAssigned, cTaken:
		c.Phase, c.Taker = cTaken, 0
		w.Live, w.Mem, w.Basis = true, c.Mem, c.Started
		m.value(e, i, Msg{Who: user, Val: w.Mem, Started: w.Basis})
	case cReady:
		switch {
		case m.fresh(e, i):
			m.look(e, i, false)
		case c.Closed && !e.St.K[m.Cons[i]].Has:
			m.lift(e, i)
		case !w.Live:
			if !c.Master {
				m.look(e, i, false)
			}
			m.userStarts(e, 0, i)
		default:
			w.Mem = max(w.Mem, c.Mem) // it goes on until it has passed what is there
			m.value(e, i, Msg{Who: user, Val: w.Mem, Started: w.Basis})
		}
	}
	return false
}
