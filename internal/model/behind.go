package main

// Consumers behind a broker: what they send says nothing of the read that their
// progress rests on, so that the broker must know which of them to believe.

// User is a consumer that commits through brokers.
type User struct {
	Live  bool
	Owes  bool // it has followed a reset, and says so first
	Mem   int8
	Left  uint8 // commits it may still send
	Reads uint8 // ... and reads
	Basis uint8 // ghost time of the read of the store that its progress rests on
}

// Slot is what a broker keeps of a key for the consumers behind it. A value that
// has come and is not acknowledged yet is in Cons.Val.
type Slot struct {
	Master   bool
	Closed   bool  // an act moved the key: no consumer is believed but those in Open
	Open     uint8 // bit per consumer
	Taker    uint8 // whose pull took the reset
	HasHeld  bool  // the file has a mark
	Held     uint8 // the epoch in the file's mark
	Rests    uint8 // ghost: the read that the table's value rests on
	MEp      uint8 // the stamp of the value: its epoch
	MCl      uint8 // ... and cluster
	MStarted uint8 // ghost: what the value rests on
	MBorn    uint8 // ghost: the claim, or the read, of the stamp
	MWho     uint8 // ghost: whose it is
}

func (m *Model) behind() bool { return m.Users > 0 }

const user = 100 // Msg.Who of the first consumer behind brokers

// sendValue puts a consumer's value behind what it sent to the same broker before.
func (m *Model) sendValue(s *State, u, i int, piggy bool) bool {
	k := int(m.Cons[i])
	g := Msg{Kind: mValue, Who: user + uint8(u), Key: uint8(i), Val: s.U[u].Mem, Started: s.basis(u, k)}
	if piggy { // on the thread of its pull, beside the queue, and before that is answered
		g.AK, g.ROff, g.Born = 1, s.C[i].Mem, s.C[i].Rests
	} else {
		g.Step = uint8(s.queued(u, i))
	}
	return s.send(g)
}

func (s *State) queued(u, i int) (n int) {
	for _, g := range s.Net[:s.N] {
		if g.Kind == mValue && g.AK == 0 && g.Who == user+uint8(u) && g.Key == uint8(i) {
			n++
		}
	}
	return n
}

// arrive takes value j of the network out, and moves the queue behind it up.
func (m *Model) arrive(s *State, j int) {
	g := s.Net[j]
	s.drop(j)
	for i := range s.Net[:s.N] {
		if h := &s.Net[i]; g.AK == 0 && h.Kind == mValue && h.AK == 0 && h.Who == g.Who && h.Key == g.Key && h.Step > g.Step {
			h.Step--
		}
	}
	m.value(s, int(g.Key), g)
}

func (c *Cons) open(u uint8) bool { return !c.Closed || c.Open>>u&1 == 1 }

// value is a consumer's value come to slot i.
func (m *Model) value(s *State, i int, g Msg) {
	c, u := &s.C[i], g.Who-user
	piggy := g.AK == 1
	if piggy {
		s.send(Msg{Kind: mMoved, Who: g.Who, Key: uint8(i), Val: g.ROff, Started: g.Born})
	}
	switch c.Phase {
	case cTaken:
		shows := u == c.Taker && g.Val == c.Mem && !piggy
		if m.FollowAny {
			shows = u == c.Taker && g.Val >= c.Mem
		}
		if m.FollowOther {
			shows = g.Val == c.Mem
		}
		if shows {
			m.hit("consumer has followed a reset")
			m.opens(c, u)
			m.stamp(s, i, g)
		}
	case cReady:
		switch {
		case !c.open(u) && !(c.Master && m.OpenMaster):
			m.hit("value of a consumer that is not believed")
			if c.Master && s.St.K[m.Cons[i]].Has {
				c.Phase = cAssigned
			}
		case g.Val < c.Mem: // a slave lowers nothing
		default:
			m.stamp(s, i, g)
		}
	}
}

// stamp takes a value into the table, with the epoch that is held for the key now.
func (m *Model) stamp(s *State, i int, g Msg) {
	c := &s.C[i]
	c.Mem, c.Val, c.Phase, c.Rests = g.Val, g.Val, cMarked, g.Started
	c.MEp, c.MCl, c.MStarted, c.MBorn, c.MWho = c.Ep, c.Cl, g.Started, c.Born, g.Who-user
}

// opens: consumer u has followed what moved the key, or read it.
func (m *Model) opens(c *Cons, u uint8) {
	c.Open |= 1 << u
	if m.OpenAll {
		c.Closed, c.Open = false, 0
	}
	c.opened()
}

// opened: somebody has followed, the file's mark may go on.
func (c *Cons) opened() { c.Held, c.HasHeld = c.Ep, true }

// sendMarked sends the value with its stamp.
func (m *Model) sendMarked(s *State, i int) bool {
	c := &s.C[i]
	c.Sends++
	c.Phase = cWait
	return s.send(Msg{Kind: mCommit, Who: uint8(i), Cur: true, Chain: true, Key: m.Cons[i], Val: c.Val, Ep: c.MEp, Cl: c.MCl,
		Started: c.MStarted, Born: c.MBorn, Dlv: c.MStarted, Key2: c.MWho})
}

// dropMarked: the value's stamp is not that of the key any more.
func (m *Model) dropMarked(s *State, i int) {
	c := &s.C[i]
	if c.Phase == cMarked || c.Phase == cWait {
		c.Phase = cReady
		m.hit("value with an older stamp dropped")
	}
	c.clearMark()
	s.forget(uint8(i), true)
}

func (c *Cons) clearMark() {
	c.Sends, c.Val, c.Applied = 0, 0, false
	c.MEp, c.MCl, c.MStarted, c.MBorn, c.MWho = 0, 0, 0, 0, 0
}

// slotReply is an answer to slot i.
func (m *Model) slotReply(s *State, i int, r Msg) {
	c := &s.C[i]
	switch {
	case r.AK == aClaim && r.Res == rOK:
		c.Sends, c.Act, c.Base, c.Claim, c.Born = 0, 0, 0, r.RIdx, r.Started
		s.forget(r.Who, true)
		m.look(s, i, true)
	case r.AK == aClaim:
		c.Sends, c.Act, c.Base, c.Phase = 0, 0, 0, cUnread
		s.forget(r.Who, true)
	case r.Res == rOK:
		c.Phase, c.Off = cReady, r.ROff
		c.clearMark()
		s.forget(r.Who, true)
		if r.ROff > c.Mem {
			c.Mem, c.Rests = r.ROff, s.Now
		}
		m.hit("value of a consumer acknowledged")
	default:
		if c.Sends == 1 && c.Applied {
			s.bad("P4: the value %d of U%d is answered with fenced; its first send was applied", c.Val, c.MWho)
		}
		if m.FenceAdopts {
			c.Ep, c.Cl, c.Born = r.REp, r.Cl, s.Now
			s.forget(r.Who, true)
			m.sendMarked(s, i)
			return
		}
		c.Phase = cFrozen
		s.forget(r.Who, true)
		c.clearMark()
	}
}

// acted notes which consumers an act that leaves key k at off moves back; of the
// others, what is under way at or above it undoes nothing.
func (m *Model) acted(s *State, k int, has bool, off int8) {
	gh := &s.G[k]
	gh.Val, gh.Above = no, 1<<s.NU-1
	if !has || !m.behind() {
		return
	}
	gh.Val = off
	for u, w := range s.U[:s.NU] {
		if w.Live {
			s.stands(u, k)
		}
	}
	past := func(u uint8, val int8, at ...*uint8) {
		for _, p := range at {
			if val >= off && gh.Above>>u&1 == 0 {
				*p = s.Now
			}
		}
	}
	for i := range s.Net[:s.N] {
		switch g := &s.Net[i]; {
		case g.Kind == mValue && m.Cons[g.Key] == uint8(k):
			past(g.Who-user, g.Val, &g.Started)
		case g.Kind == mCommit && g.Key == uint8(k):
			past(g.Key2, g.Val, &g.Started, &g.Dlv)
		}
	}
	for i := range m.Cons {
		if c := &s.C[i]; m.Cons[i] == uint8(k) && (c.Phase == cMarked || c.Phase == cWait) {
			past(c.MWho, c.Val, &c.MStarted)
		}
	}
}

// stands notes where consumer u stands now.
func (s *State) stands(u, k int) {
	gh := &s.G[k]
	gh.Above |= 1 << u
	if s.U[u].Mem <= gh.Val {
		gh.Above &^= 1 << u
	}
}

// basis is what a value that consumer u sends now rests on. Who stood at or below
// where an act left the key, and goes past it, undoes nothing.
func (s *State) basis(u, k int) uint8 {
	w, gh := &s.U[u], &s.G[k]
	if gh.Above>>u&1 == 0 && gh.Val != no && w.Mem >= gh.Val {
		return max(w.Basis, gh.LastAct)
	}
	return w.Basis
}

func (s *State) encodeBehind(b []byte) []byte {
	b = append(b, s.Promotes, s.Demotes)
	for i := range s.C {
		c := &s.C[i]
		b = append(b, b2u(c.Master)|b2u(c.Closed)<<1|b2u(c.HasHeld)<<2, c.Open, c.Taker, c.Held, c.Rests, c.MEp, c.MCl, c.MStarted, c.MBorn, c.MWho)
	}
	for _, g := range s.G {
		b = append(b, uint8(g.Val), g.Above, g.Named)
	}
	for _, u := range s.U[:s.NU] {
		b = append(b, b2u(u.Live)|b2u(u.Owes)<<1, uint8(u.Mem), u.Left, u.Reads, u.Basis)
	}
	return b
}
