package main

import "fmt"

func who(w uint8) string {
	if w >= user {
		return fmt.Sprintf("U%d", w-user)
	}
	if w >= maxC {
		return fmt.Sprintf("O%d", w-maxC)
	}
	return fmt.Sprintf("C%d", w)
}

func posText(g Msg) string {
	if g.Res != rFenced {
		return ""
	}
	if !g.RHas {
		return fmt.Sprintf(" (no offset, epoch %d)", g.REp)
	}
	return fmt.Sprintf(" (position %d, index %d, epoch %d)", g.ROff, g.RIdx, g.REp)
}

// slotText tells what became of a broker's key.
func slotText(a, b *Cons) string {
	if *a == *b {
		return "no change"
	}
	state := map[uint8]string{cUnread: "not started", cReady: "ready", cWait: "sent", cFrozen: "fenced", cClaim: "claiming", cAssigned: "reset assigned", cLost: "lost", cMarked: "marked", cTaken: "reset taken"}[b.Phase]
	if b.Closed {
		state += fmt.Sprintf(", closed but for %02b", b.Open)
	}
	return fmt.Sprintf("%d with epoch %d, %s", b.Mem, b.Ep, state)
}

func (m *Model) posOf(s *State, k int) string {
	p, pend := s.St.K[k], ""
	if !p.Has {
		return fmt.Sprintf("no offset, epoch %d", m.epochOf(&s.St, k))
	}
	if p.Pend {
		pend = ", pending"
	}
	return fmt.Sprintf("%d@index %d, epoch %d%s", p.Off, p.Idx, m.epochOf(&s.St, k), pend)
}

func (m *Model) after(s, n *State) string {
	t := ""
	for k := 0; k < m.NK; k++ {
		if a, b := m.posOf(s, k), m.posOf(n, k); a != b {
			t += fmt.Sprintf("; key %d: %s -> %s", k, a, b)
		}
	}
	if t == "" {
		t = "; no change"
	}
	return fmt.Sprintf(" [index %d]%s", n.St.Idx, t)
}

func (m *Model) msgText(g Msg) string {
	held := ""
	if !g.Cur {
		held = "the late "
	}
	switch {
	case g.Kind == mCommit:
		return fmt.Sprintf("%scommit of C%d: key %d = %d, epoch %d", held, g.Who, g.Key, g.Val, g.Ep)
	case g.AK == aSet:
		if g.Who < maxC {
			return fmt.Sprintf("%sset of C%d: key %d = %d replacing index %d (offset %d, epoch %d)", held, g.Who, g.Key, g.Val, g.Ep, g.ROff, g.REp)
		}
		return fmt.Sprintf("%sset key %d = %d replacing index %d", held, g.Key, g.Val, g.Ep)
	case g.AK == aClaim:
		return fmt.Sprintf("%sclaim of scope %d by %s (act #%d, base %d)", held, g.Key, who(g.Who), g.Act, g.Base)
	case g.AK == aClone:
		return fmt.Sprintf("%sclone group %d to group %d", held, g.Key, g.Key2)
	case g.AK == aReset:
		return fmt.Sprintf("%sreset group %d = %d", held, g.Key, g.Val)
	case g.AK == aExpire:
		return fmt.Sprintf("%sexpire group %d seen at %d", held, g.Key, g.Ep)
	case g.AK == aAbort:
		return fmt.Sprintf("%sabort of import #%d", held, g.Key2)
	}
	return fmt.Sprintf("%s%s %d step %d (act #%d)", held, actName[g.AK], g.Key, g.Step, g.Act)
}
