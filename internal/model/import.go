package main

// applyImport: step 0 begins; merge: steps 1..NK are chunks; replace: step 1 swaps.
func (m *Model) applyImport(s *State, g *Msg) {
	st := &s.St
	all := func(int) bool { return true }
	if g.AK == aAbort { // Key2 holds the import's id
		if st.ImpID == g.Key2 && st.ImpID != 0 {
			if m.ImportGuard {
				m.remember(st, st.ImpID, rGone, st.ImpNext, true)
			}
			st.ImpID, st.ImpNext, st.ImpBase = 0, 0, 0
			m.hit("import aborted")
		}
		m.answer(s, g, rOK)
		return
	}
	if g.Step == 0 {
		res := uint8(rOK)
		switch {
		case st.ImpID == g.Act:
		case st.ImpID != 0:
			res = rBusy
		default:
			if s.A[g.Act].Done {
				s.bad("P2: a late copy of the begin of import #%d starts it again after its end", g.Act)
			}
			if s.A[g.Act].Denied {
				s.bad("P4: import #%d begins after its issuer was told it will not", g.Act)
			}
			st.ImpID, st.ImpNext, st.ImpBase = g.Act, 1, g.Base
			m.hit("import begins")
		}
		if m.ImportGuard && (res == rOK || m.RecordFailures) {
			m.remember(st, g.Act, res, 1, res != rOK)
		}
		m.answer(s, g, res)
		return
	}
	if st.ImpID != g.Act {
		res := uint8(rGone)
		if r := m.rec(st, g.Act); m.ImportGuard && r != nil && r.Done {
			res = r.Res
			m.hit("chunk or swap of a finished import gets its answer")
		}
		m.answer(s, g, res)
		return
	}
	end := func() {
		st.ImpID, st.ImpNext, st.ImpBase = 0, 0, 0
		s.A[g.Act].Done = true
		if m.ImportGuard {
			m.remember(st, g.Act, rOK, 0, true)
		}
	}
	if g.AK == aImpReplace {
		if m.ActCheck > 0 && st.LastAct > g.Base {
			m.hit("swap refused: an act came in between")
			m.answer(s, g, rSuperseded)
			return
		}
		m.replace(s, g, all, 0)
		st.LastAct = st.Idx
		s.A[g.Act].Steps |= 1 << g.Step
		m.hit("swap applied")
		end()
		m.answer(s, g, rOK)
		return
	}
	if g.Step != st.ImpNext { // an old chunk, or one too far: changes nothing
		m.answer(s, g, rOK)
		return
	}
	k := int(g.Step) - 1
	if v := m.Content[k]; v >= 0 && (!st.K[k].Has || st.K[k].Off < v) {
		if m.ActCheck > 0 && !m.MergeNoCheck && m.newer(st, k, st.ImpBase) {
			m.hit("merge leaves alone what an act moved since its begin")
		} else {
			m.touch(s, g, k, true, v)
			st.LastAct = st.Idx
			s.A[g.Act].Steps |= 1 << g.Step
			m.hit("merge raises")
		}
	}
	st.ImpNext++
	if int(st.ImpNext) > m.NK {
		end()
	}
	m.answer(s, g, rOK)
}
