package main

// apply is one request taken by the log, on this replica and on its twin.
func (m *Model) apply(s *State, g Msg, fresh bool) {
	if !s.HasTwin {
		m.apply1(s, g, fresh)
		return
	}
	t := *s
	t.St, t.viol = t.Twin, ""
	cur := g.Cur
	g.Cur = true // to compare answers
	u := *s
	m.apply1(&u, g, fresh)
	m.apply1(&t, g, fresh)
	same := u.N == t.N
	for i := 0; same && i < int(u.N); i++ {
		same = u.Net[i] == t.Net[i]
	}
	for k := 0; k < m.NK; k++ {
		same = same && u.St.K[k] == t.St.K[k] && m.epochOf(&u.St, k) == m.epochOf(&t.St, k)
	}
	if !cur && u.N > 0 && u.Net[u.N-1].Kind == mReply { // nobody waits for it
		u.drop(int(u.N) - 1)
	}
	u.Twin = t.St
	if !same {
		u.bad("P7: a replica restarted from a snapshot answers or holds something else")
	}
	*s = u
}

// apply1 is FSM.Apply for one request, and the checks that belong to it.
func (m *Model) apply1(s *State, g Msg, fresh bool) {
	if fresh {
		s.St.Idx++
	}
	s.Now++
	switch g.Kind {
	case mCommit:
		m.applyCommit(s, &g)
	case mAct:
		if g.AK == aRemoveParts { // the leader proposes the next part; no entry yet
			if fresh {
				s.St.Idx--
			}
			p := g
			p.Kind, p.Step = mPart, 0
			if r := m.rec(&s.St, g.Act); r != nil {
				p.Step = r.Next
			}
			s.send(p)
			return
		}
		m.applyAct(s, &g)
	case mPart:
		m.applyPart(s, &g)
	}
	for k := 0; k < m.NK; k++ {
		p, gh := &s.St.K[k], &s.G[k]
		if gh.Must >= 0 && (!p.Has || p.Off < gh.Must) {
			s.bad("P1: key %d acknowledged at %d is now %v %d, no act applied since", k, gh.Must, p.Has, p.Off)
		}
		if gh.DueAt > 0 && p.Has && !p.Pend {
			s.bad("P11: act #%d on key %d is pending no more though no consumer has followed it", gh.DueID, k)
		}
		if gh.DueAt == 0 && p.Pend && g.Kind != mCommit {
			s.bad("P11: act #%d (%s) leaves key %d pending; it is no operator's set or reset", g.Act, actName[g.AK], k)
		}
	}
}

func (m *Model) applyCommit(s *State, g *Msg) {
	st, k := &s.St, int(g.Key)
	p, gh, c := &st.K[k], &s.G[k], &s.C[g.Who]
	ep := m.epochOf(st, k)
	if m.CommitNoClaim {
		ep = m.ownEpoch(st, k)
	}
	ok := g.Ep == ep
	if m.GreaterEpoch {
		ok = g.Ep >= ep
	}
	if m.ClusterID && g.Cl != st.Cluster {
		ok = false
	}
	if !ok {
		m.hit("commit fenced")
		m.answer(s, g, rFenced)
		return
	}
	if g.Chain {
		c.Applied = true
	}
	m.checkClaim(s, g, k)
	m.follow(s, g, k)
	if !p.Has || g.Val > p.Off {
		if g.Started < gh.LastAct {
			if gh.LastRem {
				s.bad("P3r: a commit whose progress began before the removal (act #%d) of key %d brings it back, at %d", gh.LastID, k, g.Val)
			} else {
				s.bad("P3: a commit whose progress began before act #%d on key %d moves it, to %d", gh.LastID, k, g.Val)
			}
		}
		if !p.Has {
			p.Ep = ep
			if m.CreateOwnIndex {
				p.Ep = st.Idx
			}
			m.hit("commit creates")
		} else {
			m.hit("commit raises")
		}
		p.Has, p.Off, p.Idx, p.Pend = true, g.Val, st.Idx, false
		gh.Moved = s.Now
	} else {
		p.Pend = p.Pend && m.PendNoRaise
		m.hit("commit raises nothing")
	}
	if g.Val > gh.Must {
		gh.Must = g.Val
	}
	m.answer(s, g, rOK)
}

func (m *Model) rec(st *Store, id uint8) *ActRec {
	for i := 0; i < int(st.NWin); i++ {
		if st.Win[i].ID == id {
			return &st.Win[i]
		}
	}
	return nil
}

func (m *Model) remember(st *Store, id, res, next uint8, done bool) {
	if m.NoActIDs {
		return
	}
	if r := m.rec(st, id); r != nil {
		r.Res, r.Next, r.Done = res, next, done
		return
	}
	if int(st.NWin) == m.W {
		v := 0
		if m.PinUnderway {
			for v < int(st.NWin) && !st.Win[v].Done {
				v++
			}
			if v == int(st.NWin) {
				v = 0 // all under way: can't happen with one import and one cut act
			}
		}
		if st.Win[v].Idx > st.Evicted {
			st.Evicted = st.Win[v].Idx
		}
		copy(st.Win[v:], st.Win[v+1:st.NWin])
		st.NWin--
		m.hit("an act id forgotten")
	}
	st.Win[st.NWin] = ActRec{id, st.Idx, res, next, done}
	st.NWin++
}

func (m *Model) newer(st *Store, k int, base uint8) bool {
	return m.ownEpoch(st, k) > base || m.ActSeesClaim && m.Claims && m.claimOf(st, k) > base
}

// spare tells which keys of a scope the act must leave alone, and whether it is
// refused whole.
func (m *Model) spare(s *State, g *Msg, in func(int) bool) (skip [maxK]bool, refuse bool) {
	if m.ActCheck == 0 {
		return
	}
	n, all := 0, 0
	for k := 0; k < m.NK; k++ {
		if !in(k) {
			continue
		}
		all++
		if m.newer(&s.St, k, g.Base) {
			skip[k] = true
			n++
		}
	}
	if n > 0 {
		m.hit("act meets a newer epoch")
	}
	return skip, n > 0 && (m.ActCheck == 2 || n == all)
}

func (m *Model) applyAct(s *State, g *Msg) {
	st := &s.St
	if g.AK == aSet {
		m.applySet(s, g)
		return
	}
	imp := g.AK == aImpMerge || g.AK == aImpReplace
	if imp && g.Step > 0 || g.AK == aAbort {
		m.applyImport(s, g)
		return
	}
	if !m.NoActIDs && (!imp || m.ImportGuard) {
		if r := m.rec(st, g.Act); r != nil {
			m.hit("resent act gets its first answer")
			res := r.Res
			m.answer(s, g, res)
			return
		}
		if m.WindowBase && g.Base < st.Evicted {
			m.hit("act refused: issued before the window")
			m.answer(s, g, rTooOld)
			return
		}
	}
	if imp {
		m.applyImport(s, g)
		return
	}
	if m.ActClaim && m.lostBy(st, g) {
		m.remember(st, g.Act, rSuperseded, 1, true)
		m.answer(s, g, rSuperseded)
		return
	}
	res := m.effect(s, g)
	if res == rOK || m.RecordFailures {
		m.remember(st, g.Act, res, 1, true)
	}
	m.answer(s, g, res)
}

func (m *Model) applySet(s *State, g *Msg) {
	st, k := &s.St, int(g.Key)
	p, gh := &st.K[k], &s.G[k]
	cur := p.Idx
	if !p.Has {
		cur = m.floorFor(st, k)
		if m.SetAbsentZero {
			cur = 0
		}
	}
	if m.SetEpochCAS {
		cur = m.epochOf(st, k)
	}
	same := cur == g.Ep && !(m.ActClaim && m.lostBy(st, g))
	if g.Who < maxC {
		same = (same || m.SetKnown == 4) && m.knew(s, g)
	}
	if !same && !m.SetNoCAS {
		m.hit("set fenced")
		if m.ClaimSet && p.Has && p.Off == g.Val && p.Idx == p.Ep && !(gh.LastAct > g.Started && !gh.LastRem) {
			s.bad("P4: set #%d is answered with its own value and index = epoch, but no act since its issue put it there", g.Act)
		}
		if g.Who < maxC && g.REp == m.epochOf(st, k) && g.Cl == st.Cluster && gh.LastAct > g.Started {
			s.bad("P5: C%d is told that a commit overtook its Set on key %d; an act did", g.Who, k)
		}
		m.answer(s, g, rFenced)
		return
	}
	if g.Who < maxC {
		m.checkOwn(s, g, cur)
	}
	m.touch(s, g, k, true, g.Val)
	s.St.LastAct = st.Idx
	if m.TopicCounter {
		st.Ctr[m.Topic[k]]++
	}
	s.A[g.Act].Steps |= 1
	m.hit("set applied")
	m.answer(s, g, rOK)
}
