package main

func (m *Model) effect(s *State, g *Msg) uint8 {
	st := &s.St
	group := func(k int) bool { return m.Group[k] == g.Key }
	topic := func(k int) bool { return m.Topic[k] == g.Key }
	any := func(k int) bool { return true }
	did := func() { m.did(s, g) }
	switch g.AK {
	case aClaim:
		if !m.claim(s, g) {
			return rSuperseded
		}
		did()
	case aReset:
		skip, refuse := m.spare(s, g, group)
		if refuse {
			return rSuperseded
		}
		for k := 0; k < m.NK; k++ {
			if group(k) && !skip[k] {
				m.touch(s, g, k, true, g.Val)
			}
		}
		did()
	case aRemoveG, aRemoveT:
		in, scope := group, 1+g.Key
		if g.AK == aRemoveT {
			in, scope = topic, 100+g.Key
		}
		skip, refuse := m.spare(s, g, in)
		if refuse {
			return rSuperseded
		}
		m.remove(s, g, in, scope, skip)
		did()
	case aClone:
		return m.clone(s, g)
	case aExpire:
		return m.expire(s, g)
	case aReplaceG, aReplaceAll:
		in, scope := group, 1+g.Key
		if g.AK == aReplaceAll {
			in, scope = any, 0
		}
		if m.ActCheck > 0 && st.LastAct > g.Base {
			m.hit("replace refused: an act came in between")
			return rSuperseded
		}
		m.replace(s, g, in, scope)
		did()
	}
	return rOK
}

func (m *Model) replace(s *State, g *Msg, in func(int) bool, scope uint8) {
	for k := 0; k < m.NK; k++ {
		if !in(k) {
			continue
		}
		if m.Content[k] >= 0 {
			m.touch(s, g, k, true, m.Content[k])
		} else if s.St.K[k].Has {
			m.touch(s, g, k, false, 0)
		}
	}
	m.moveFloor(s, scope)
	m.scoped(s, in)
}

// did notes that an act has taken effect.
func (m *Model) did(s *State, g *Msg) {
	st := &s.St
	s.A[g.Act].Steps |= 1
	st.LastAct = st.Idx
	if m.TopicCounter {
		st.Ctr[0]++
	}
	m.hit(actName[g.AK] + " applied")
}

// remove takes the keys of a scope away, and moves its floor.
func (m *Model) remove(s *State, g *Msg, in func(int) bool, scope uint8, skip [maxK]bool) {
	st := &s.St
	for k := 0; k < m.NK; k++ {
		if in(k) && st.K[k].Has && !skip[k] {
			m.touch(s, g, k, false, 0)
		}
	}
	m.moveFloor(s, scope)
	m.scoped(s, in)
	if m.TopicCounter {
		st.Ctr[0] = 0 // lost with the topic
	}
}

// clone copies what the source has over the destination; the rest of the
// destination stays.
func (m *Model) clone(s *State, g *Msg) uint8 {
	st := &s.St
	n := 0
	dst := func(k int) bool {
		if m.Group[k] != g.Key2 {
			return false
		}
		for j := 0; j < m.NK; j++ {
			if m.Group[j] == g.Key && m.Topic[j] == m.Topic[k] && st.K[j].Has {
				return true
			}
		}
		return false
	}
	skip, refuse := m.spare(s, g, dst)
	if refuse {
		return rSuperseded
	}
	for k := 0; k < m.NK; k++ {
		for j := 0; j < m.NK; j++ {
			if m.Group[k] == g.Key2 && m.Group[j] == g.Key && m.Topic[j] == m.Topic[k] && st.K[j].Has && !skip[k] {
				m.touch(s, g, k, true, st.K[j].Off)
				n++
			}
		}
	}
	if n == 0 {
		return rNotFound
	}
	m.did(s, g)
	return rOK
}

// expire removes a group that has not moved since it was listed.
func (m *Model) expire(s *State, g *Msg) uint8 {
	st := &s.St
	group := func(k int) bool { return m.Group[k] == g.Key }
	n := 0
	for k := 0; k < m.NK; k++ {
		if group(k) && st.K[k].Has {
			n++
			if st.K[k].Idx > g.Ep && !m.ExpireNoGuard {
				m.hit("expire skips what moved")
				return rOK
			}
		}
	}
	if n == 0 {
		return rOK
	}
	for k := 0; k < m.NK; k++ {
		if group(k) && st.K[k].Has && s.G[k].Moved > g.Started {
			s.bad("P6: expire removes key %d, which moved after it was listed", k)
		}
	}
	keep := st.Floor
	fl, nfl := st.Fl, st.NFl
	m.remove(s, g, group, 1+g.Key, [maxK]bool{})
	if m.ExpireFloor {
		st.Floor, st.Fl, st.NFl = keep, fl, nfl
	}
	m.did(s, g)
	return rOK
}
