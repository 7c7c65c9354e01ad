package main

// settle checks that, with no further acts, every consumer gets a commit
// acknowledged; first is whether what is under way arrives before.
func (m *Model) settle(s *State, first bool) {
	m.checkNotice(s)
	n := *s
	if first {
		for left := 40; n.N > 0 && left > 0; left-- {
			g := n.Net[0]
			n.drop(0)
			if g.Kind > mReply { // a connection that ended
				continue
			}
			if g.Kind == mReply {
				if int(g.Who) < maxC {
					m.reply(&n, g)
				}
			} else {
				m.apply(&n, g, true)
			}
		}
	} else {
		n.N = 0
		n.Net = [maxNet]Msg{}
	}
	if m.behind() {
		m.settleBehind(s, n)
		return
	}
	if m.Claims {
		m.settleClaims(s, n)
		return
	}
	for i := range m.Cons {
		ok := false
		for try := 0; try < 8 && !ok; try++ {
			c := &n.C[i]
			switch c.Phase {
			case cUnread:
				m.start(&n, i)
			case cFrozen:
				m.reread(&n, i)
			case cSetWait:
				m.giveUp(&n, i)
			case cReady, cWait:
				n.forget(uint8(i), true)
				if c.Sends == 0 && c.Mem == 0 {
					c.Mem = 1
				}
				n.N = 0
				m.sendCommit(&n, i)
				g := n.Net[0]
				n.drop(0)
				m.apply(&n, g, true)
				if n.N == 1 {
					r := n.Net[0]
					n.drop(0)
					ok = r.Res == rOK
					m.reply(&n, r)
					if ok && m.own() {
						m.settleSet(&n, i)
					}
				}
			}
		}
		if !ok {
			s.bad("P5: consumer C%d can't get a commit acknowledged though acts have ended", i)
		}
	}
	if n.viol != "" {
		s.bad("%s (in the fair run to the end)", n.viol)
	}
}
