package main

func (m *Model) floorFor(st *Store, k int) uint8 {
	f := st.Floor
	for i := 0; i < int(st.NFl); i++ {
		sc := st.Fl[i].Scope
		if (sc == 1+m.Group[k] || sc == 100+m.Topic[k]) && st.Fl[i].Idx > f {
			f = st.Fl[i].Idx
		}
	}
	return f
}

// epochOf is the epoch that a commit must carry: the key's own, or that of a claim.
func (m *Model) epochOf(st *Store, k int) uint8 {
	ep := m.ownEpoch(st, k)
	if m.Claims && !(m.ClaimAbsent && !st.K[k].Has) {
		ep = max(ep, m.claimOf(st, k))
	}
	return ep
}

// claimOf is the newest claim of the scopes that the key is in.
func (m *Model) claimOf(st *Store, k int) uint8 { return max(st.Cla[0], st.Cla[1+m.Group[k]%maxG]) }

func (m *Model) ownEpoch(st *Store, k int) uint8 {
	if m.TopicCounter {
		return st.Ctr[m.Topic[k]]
	}
	if st.K[k].Has {
		return st.K[k].Ep
	}
	return m.floorFor(st, k)
}

func (m *Model) moveFloor(s *State, scope uint8) {
	st := &s.St
	if m.ClaimByRemoval && scope <= maxG {
		st.Cla[scope] = 0
	}
	if m.FloorStays {
		return
	}
	if m.ScopedFloor == 0 || scope == 0 {
		st.Floor = st.Idx
		st.NFl = 0
		st.Fl = [maxFl]ScopeFloor{}
		return
	}
	n := 0
	for i := 0; i < int(st.NFl); i++ {
		if st.Fl[i].Scope != scope {
			st.Fl[n] = st.Fl[i]
			n++
		}
	}
	if n == m.ScopedFloor {
		if st.Fl[0].Idx > st.Floor {
			st.Floor = st.Fl[0].Idx
		}
		m.hit("a scope's floor forgotten, floor for all raised")
		copy(st.Fl[:], st.Fl[1:n])
		n--
	}
	st.Fl[n] = ScopeFloor{scope, st.Idx}
	n++
	for i := n; i < maxFl; i++ {
		st.Fl[i] = ScopeFloor{}
	}
	st.NFl = uint8(n)
}

func (m *Model) scoped(s *State, in func(k int) bool) {
	for k := 0; k < m.NK; k++ {
		if in(k) {
			s.G[k].LastScope, s.G[k].Named = s.Now, s.Now
		}
	}
}

// touch is the effect of an act on one key.
func (m *Model) touch(s *State, g *Msg, k int, has bool, off int8) {
	st, gh, a := &s.St, &s.G[k], &s.A[g.Act]
	if gh.LastID > g.Act && !(g.AK == aImpReplace && g.Started >= gh.LastAct) {
		s.bad("P2: act #%d (%s) takes effect on key %d after act #%d, issued later, was acknowledged", g.Act, actName[g.AK], k, gh.LastID)
	}
	if a.Steps>>g.Step&1 == 1 {
		s.bad("P2: second effect of act #%d (%s)", g.Act, actName[g.AK])
	}
	if a.Denied {
		s.bad("P4: act #%d (%s) takes effect after its issuer was told it was not and will not be applied", g.Act, actName[g.AK])
	}
	ep := st.Idx
	if m.CloneKeepsEpoch && g.AK == aClone {
		ep = m.epochOf(st, k)
	}
	if m.SetKeepsEpoch && g.AK == aSet {
		ep = m.epochOf(st, k)
	}
	old := st.K[k]
	if g.Who < maxC || g.Cla > 0 {
		m.checkClaim(s, g, k)
	}
	switch {
	case !has:
		st.K[k] = Pos{}
	case m.NoopSetKeeps && old.Has && old.Off == off:
	case m.FileIndexes && (g.AK == aReplaceAll || g.AK == aReplaceG):
		st.K[k] = Pos{true, off, 1, ep, false} // the index the backup holds
	default:
		st.K[k] = Pos{true, off, st.Idx, ep, false}
	}
	m.mark(s, g, k, has, old)
	gh.Must = -1
	if has {
		gh.Must = off
	}
	m.acted(s, k, has, off)
	gh.Named = s.Now
	gh.LastAct, gh.LastID, gh.LastRem, gh.LastScope, gh.Moved = s.Now, g.Act, !has, s.Now, s.Now
}

func (m *Model) answer(s *State, g *Msg, res uint8) {
	if !g.Cur {
		return
	}
	p := s.St.K[g.Key]
	r := Msg{Kind: mReply, Who: g.Who, Cur: true, Res: res, Act: g.Act, AK: g.AK, Step: g.Step, Cl: s.St.Cluster}
	if g.Kind == mCommit || g.AK == aSet {
		r.Key = g.Key
		if res == rFenced {
			r.RHas, r.ROff, r.RIdx, r.REp = p.Has, p.Off, p.Idx, m.epochOf(&s.St, int(g.Key))
		} else if (m.own() || m.behind()) && g.Who < maxC {
			r.ROff, r.RIdx = m.acked(s, g)
		}
		if g.AK == aSet && g.Who < maxC {
			r.Started = s.Now
		}
	}
	if g.AK == aClaim && g.Who < maxC {
		r.RIdx, r.Started = s.St.Idx, s.A[g.Act].At
		if rec := m.rec(&s.St, g.Act); rec != nil && m.ClaimIndex {
			r.RIdx = rec.Idx
		}
	}
	s.send(r)
}
