package main

import "fmt"

// text makes the words of a trace, if one is wanted.
type text func(string, ...any) string

// succ emits every successor.
func (m *Model) succ(s *State, emit func(n *State, what string)) {
	var n State
	d := func(f string, a ...any) string {
		if !m.tr {
			return ""
		}
		return fmt.Sprintf(f, a...)
	}
	m.succNet(s, &n, d, emit)
	if m.behind() {
		m.succBehind(s, &n, d, emit)
	} else {
		for i := range m.Cons {
			m.succCons(s, &n, i, d, emit)
		}
	}
	for i := range m.Ops {
		m.succOp(s, &n, i, d, emit)
	}
	m.succSnap(s, &n, d, emit)
	m.succLoss(s, &n, d, emit)
}

// succNet: the log takes a request, or an answer arrives.
func (m *Model) succNet(s, n *State, d text, emit func(*State, string)) {
	for i := 0; i < int(s.N); i++ {
		g := s.Net[i]
		if i > 0 && g == s.Net[i-1] || g.Kind > mReply {
			continue
		}
		*n = *s
		n.drop(i)
		if g.Kind == mReply {
			m.reply(n, g)
			emit(n, d("answer to %s: %s", who(g.Who), resName[g.Res]+posText(g)))
			continue
		}
		m.apply(n, g, true)
		emit(n, d("the log takes %s%s", m.msgText(g), m.after(s, n)))
		m.succPairs(s, n, i, d, emit)
	}
}

// succPairs: a second request shares the entry of request i.
func (m *Model) succPairs(s, n *State, i int, d text, emit func(*State, string)) {
	g := s.Net[i]
	if m.Pairs {
		for j := 0; j < int(s.N); j++ {
			if h := s.Net[j]; j != i && h.Kind < mReply && !(m.ClaimAlone && (g.AK == aClaim || h.AK == aClaim)) {
				*n = *s
				a, b := i, j
				if a < b {
					a, b = b, a
				}
				n.drop(a)
				n.drop(b)
				m.apply(n, g, true)
				m.apply(n, h, false)
				emit(n, d("one entry with %s, then %s%s", m.msgText(g), m.msgText(h), m.after(s, n)))
			}
		}
	}
}

// succCons: what consumer i, or its client, does.
func (m *Model) succCons(s, n *State, i int, d text, emit func(*State, string)) {
	c := &s.C[i]
	switch c.Phase {
	case cUnread:
		if !m.first(i) {
			return
		}
		*n = *s
		m.startAll(n, i)
		if m.claims(i) {
			emit(n, d("C%d starts: claims scope %d (act #%d, base %d)", i, m.Scope[i], n.C[i].Act, n.C[i].Base))
			return
		}
		emit(n, d("C%d starts key %d: reads %s", i, m.Cons[i], m.posOf(s, int(m.Cons[i]))))
		return
	case cReady:
		for v := c.Mem + 1; v <= m.MaxV && c.Left > 0; v++ {
			*n = *s
			n.C[i].Left--
			n.C[i].Mem = v
			if m.sendCommit(n, i) {
				emit(n, d("C%d commits %d with epoch %d", i, v, n.C[i].Ep))
			}
		}
	case cWait:
		if s.Resends > 0 {
			for v := c.Mem; v <= m.MaxV && (v == c.Mem || m.Newer && v == c.Mem+1); v++ {
				*n = *s
				n.Resends--
				n.C[i].Mem = v
				n.forget(uint8(i), false)
				n.C[i].Maybe = true
				if m.sendCommit(n, i) {
					emit(n, d("C%d: deadline passed, resends %d with epoch %d", i, v, c.Ep))
				}
			}
		}
	case cFrozen:
		*n = *s
		how := m.reread(n, i)
		emit(n, d("C%d re-reads %s, %s", i, m.posOf(s, int(m.Cons[i])), how))
	}
	m.ownSucc(s, n, i, d, emit)
	m.claimSucc(s, n, i, d, emit)
	if s.Restarts > 0 && m.first(i) {
		*n = *s
		n.Restarts--
		m.startAll(n, i)
		if m.claims(i) {
			emit(n, d("C%d crashes; its next instance claims scope %d (act #%d, base %d)", i, m.Scope[i], n.C[i].Act, n.C[i].Base))
			return
		}
		emit(n, d("C%d loses the queue and takes it over again: reads %s", i, m.posOf(s, int(m.Cons[i]))))
	}
	if s.Looks > 0 && m.AnyReadAdopts && c.Phase != cFrozen {
		*n = *s
		n.Looks--
		n.C[i].Ep, n.C[i].Cl = m.epochOf(&n.St, int(m.Cons[i])), n.St.Cluster
		emit(n, d("C%d reads the key for display and takes over epoch %d", i, n.C[i].Ep))
	}
}

// succOp: what operator i does.
func (m *Model) succOp(s, n *State, i int, d text, emit func(*State, string)) {
	o := &s.O[i]
	if !o.Wait {
		if o.Left > 0 {
			for _, t := range m.Ops[i].Menu {
				*n = *s
				if m.issue(n, i, t) {
					emit(n, d("O%d issues act #%d: %s (base %d)", i, n.NA, m.msgText(n.O[i].M), n.O[i].M.Base))
				}
			}
		}
		return
	}
	if s.Resends > 0 {
		*n = *s
		n.Resends--
		n.forget(uint8(maxC+i), false)
		n.O[i].Sends++
		if n.send(n.O[i].M) {
			emit(n, d("O%d: deadline passed, resends act #%d", i, o.M.Act))
		}
	}
	*n = *s
	n.forget(uint8(maxC+i), false)
	n.O[i].Wait, n.O[i].Sends, n.O[i].M = false, 0, Msg{}
	emit(n, d("O%d: deadline passed, is told 'unknown' for act #%d and moves on", i, o.M.Act))
}

// succSnap: a replica restarts from a snapshot.
func (m *Model) succSnap(s, n *State, d text, emit func(*State, string)) {
	if s.Snaps > 0 {
		*n = *s
		n.Snaps--
		n.Twin, n.HasTwin = m.roundtrip(n.St), true
		if n.Twin != n.St {
			emit(n, d("a replica restarts from a snapshot that omits its %s", m.SnapOmit))
		}
	}
}

// succLoss: the cluster is lost, and a backup restored in a new one.
func (m *Model) succLoss(s, n *State, d text, emit func(*State, string)) {
	for at := uint8(1); s.Disaster > 0 && at <= 3; at++ {
		*n = *s
		n.Disaster--
		st := Store{Idx: at, Cluster: s.St.Cluster + 1, Floor: at, LastAct: at}
		n.Now++
		for k := 0; k < m.NK; k++ {
			g := &n.G[k]
			g.DueAt, g.DueID, g.Named, g.Val, g.Above = 0, 0, n.Now, no, 1<<n.NU-1
			g.Must, g.LastAct, g.LastID, g.LastRem, g.LastScope, g.Moved = -1, n.Now, n.NA, true, n.Now, n.Now
			if m.Content[k] >= 0 {
				st.K[k] = Pos{true, m.Content[k], at, at, false}
				g.Must, g.LastRem = m.Content[k], false
			}
		}
		n.St = st
		for i := 0; i < int(n.N); { // nothing crosses from the old cluster's members
			n.drop(i)
		}
		for i := range m.Ops {
			n.O[i].Wait, n.O[i].Sends, n.O[i].M = false, 0, Msg{}
		}
		emit(n, d("the cluster is lost; a new one is founded and the backup restored, at index %d of a new log%s", at, m.after(s, n)))
	}
}
