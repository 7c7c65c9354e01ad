package main

import "bytes"

const (
	maxK   = 4  // keys
	maxC   = 4  // consumers
	maxO   = 2  // operators
	maxA   = 28 // acts in a run
	maxI   = 16 // ... but for claims
	maxNet = 14
	maxW   = 4
	maxFl  = 4
	maxG   = 2 // groups that may be claimed
	maxU   = 2 // consumers behind brokers
)

// Pos is what is stored for a key.
type Pos struct {
	Has     bool
	Off     int8
	Idx, Ep uint8
	Pend    bool // moved by an operator's set or reset that no commit has followed yet
}

// ActRec is an entry of the window of act ids.
type ActRec struct {
	ID, Idx, Res, Next uint8
	Done               bool
}

// ScopeFloor is the floor of a group or topic.
type ScopeFloor struct{ Scope, Idx uint8 }

// Store is the replicated state: all that a snapshot holds.
type Store struct {
	Idx     uint8
	Cluster uint8
	K       [maxK]Pos
	Floor   uint8
	Fl      [maxFl]ScopeFloor
	NFl     uint8
	Win     [maxW]ActRec
	NWin    uint8
	Evicted uint8
	LastAct uint8 // index of the last act of any kind
	ImpID   uint8
	ImpNext uint8
	ImpBase uint8
	Cla     [maxG + 1]uint8 // index of the newest claim: 0 of the broker (all keys), 1+g of group g
	Ctr     [2]uint8        // planted: epoch counters of topics
}

// Msg is a request on its way to the log or an answer on its way back.
type Msg struct {
	Kind    uint8 // mCommit, mAct, mPart, mReply
	Who     uint8
	Cur     bool // the sender still waits for this send
	Chain   bool // ghost: belongs to the sender's present commit
	Key     uint8
	Key2    uint8
	Val     int8
	Ep      uint8 // commit: epoch; set: index it replaces (a consumer's: REp, RHas, ROff what else it knows); expire: index listed
	Base    uint8
	Act     uint8 // number of the act in order of issue, also its id
	AK      uint8
	Step    uint8
	Cl      uint8
	Res     uint8
	RHas    bool
	ROff    int8
	RIdx    uint8
	REp     uint8
	Started uint8 // ghost time: when the progress behind this message began
	Cla     uint8 // an act's that came through an instance: the claim of that
	Born    uint8 // ghost time of its sender's claim (or of its read, if it never claims)
	Dlv     uint8 // ghost time of the read of the position that its consumer has followed
}

const (
	mCommit = 1 + iota
	mAct
	mPart
	mReply
	mValue // a consumer's 15 or its pull's commit, on the way to a broker: Who is the consumer, Key the slot, Step its place in the queue
	mMoved // a broker's answer to the pull that took a reset
	mRead  // a slave's read for a 14, on its way back
)

const (
	rOK = 1 + iota
	rFenced
	rTooOld
	rSuperseded
	rNotFound
	rBusy
	rGone // chunk or swap of an import that is not the one under way
)

var resName = []string{"", "ok", "fenced", "too old", "superseded", "not found", "busy (another import)", "no such import"}

const (
	aSet = 1 + iota
	aReset
	aRemoveG
	aRemoveT
	aClone
	aExpire
	aReplaceG
	aReplaceAll
	aImpMerge
	aImpReplace
	aAbort
	aRemoveParts
	aClaim
)

var actName = []string{"", "set", "reset", "remove-group", "remove-topic", "clone", "expire", "replace-group", "replace-all", "import-merge", "import-replace", "abort", "remove-group-in-parts", "claim"}

// Cons is a consumer of one key.
type Cons struct {
	Phase    uint8
	Ep       uint8
	Cl       uint8
	Mem      int8
	ReadNone bool // the read this progress began with said "no offset"
	Maybe    bool // something of ours may have been written since
	Sends    uint8
	Lazy     bool // planted: no epoch yet
	Left     uint8
	Started  uint8 // ghost time of the read this progress began with
	ReadAt   uint8 // ghost time of the read the epoch came from
	Applied  bool  // ghost: a send of the present commit was applied
	Idx      uint8 // of the position it last knows
	Off      int8  // of the position it last knows; -1: none
	Val      int8  // of its own Set
	Act      uint8 // number of its own Set
	SetLeft  uint8
	Why      uint8 // why it is frozen
	Claim    uint8 // index of its own claim
	Base     uint8 // of its claim
	ClaimCl  uint8 // cluster of its claim
	Born     uint8 // ghost time of its own claim
	Dlv      uint8 // ghost time of the read of the position that its consumer has followed
	Slot
}

const (
	cUnread = iota
	cReady
	cWait
	cFrozen
	cSetWait
	cClaim    // its claim is under way
	cAssigned // the key is pending: a reset is assigned, the consumer has not followed yet
	cLost     // somebody else has claimed the key
	cMarked   // a consumer's value has come and is not sent yet
	cTaken    // a pull took the reset that was assigned
)

const (
	wFenced  = iota // told: you missed an act
	wMoved          // told: the position moved, your Set was not done
	wUnknown        // told: the outcome of your Set is unknown
)

// Op is an operator.
type Op struct {
	Wait  bool
	Sends uint8
	Left  uint8
	M     Msg // the request it waits for (Net copies derive from it)
}

// Ghost is what the checks know about a key; the store doesn't.
type Ghost struct {
	Must      int8  // acknowledged and not undone by an act since; -1 nothing
	LastAct   uint8 // time of the last act that changed the key
	LastID    uint8 // its number
	LastRem   bool  // it was a removal
	LastScope uint8 // time of the last act whose scope named the key
	Moved     uint8
	DueAt     uint8 // time of the last operator's set or reset that no consumer's commit has followed; 0 none
	DueID     uint8 // its number
	Claimed   uint8 // time of the last claim of the key
	ClaimID   uint8 // its number
	Val       int8  // where the last act left the key; -1 removed
	Named     uint8 // time of the last act but a claim whose scope named the key
	Above     uint8 // bit per consumer behind a broker that was not at or below that then
}

// ActGhost is what the checks know about an act.
type ActGhost struct {
	Steps  uint8 // bit per step that had an effect
	Done   bool
	At     uint8 // time of its effect (claims)
	Denied bool  // issuer was told "not applied, and will not be"
}

// State is the store and everything around it.
type State struct {
	St       Store
	Twin     Store // another replica, restarted from a snapshot that omits something; must not differ
	HasTwin  bool
	Now      uint8 // ghost clock
	C        [maxC]Cons
	O        [maxO]Op
	G        [maxK]Ghost
	A        [maxA]ActGhost
	NA       uint8
	U        [maxU]User
	NU       uint8
	Net      [maxNet]Msg
	N        uint8
	Resends  uint8
	Restarts uint8
	Snaps    uint8
	Looks    uint8
	Disaster uint8
	Promotes uint8
	Demotes  uint8
	viol     string
}

func (s *State) send(m Msg) bool {
	if s.N == maxNet {
		return false
	}
	s.Net[s.N] = m
	s.N++
	return true
}

func (s *State) drop(i int) {
	s.N--
	s.Net[i] = s.Net[s.N]
	s.Net[s.N] = Msg{}
}

// forget: the client no longer waits; answers to it go nowhere.
func (s *State) forget(who uint8, chain bool) {
	for i := 0; i < int(s.N); {
		m := &s.Net[i]
		if m.Who == who {
			if m.Kind == mReply {
				s.drop(i)
				continue
			}
			m.Cur = false
			if chain {
				m.Chain = false
			}
		}
		i++
	}
}

// idxFields visits every log index in the state, ghostFields every ghost time.
func (s *State) idxFields(f func(*uint8)) {
	storeFields(&s.St, f)
	if s.HasTwin {
		storeFields(&s.Twin, f)
	}
	for i := range s.C {
		f(&s.C[i].Ep)
		f(&s.C[i].Idx)
		f(&s.C[i].Claim)
		f(&s.C[i].Base)
		f(&s.C[i].MEp)
		f(&s.C[i].Held)
	}
	for i := range s.O {
		f(&s.O[i].M.Ep)
		f(&s.O[i].M.Base)
		f(&s.O[i].M.Cla)
	}
	for i := 0; i < int(s.N); i++ {
		m := &s.Net[i]
		f(&m.Ep)
		f(&m.Base)
		f(&m.RIdx)
		f(&m.Cla)
		f(&m.REp)
	}
}

func storeFields(st *Store, f func(*uint8)) {
	f(&st.Idx)
	for k := range st.K {
		f(&st.K[k].Idx)
		f(&st.K[k].Ep)
	}
	f(&st.Floor)
	for i := 0; i < int(st.NFl); i++ {
		f(&st.Fl[i].Idx)
	}
	for i := 0; i < int(st.NWin); i++ {
		f(&st.Win[i].Idx)
	}
	f(&st.Evicted)
	f(&st.LastAct)
	f(&st.ImpBase)
	for i := range st.Cla {
		f(&st.Cla[i])
	}
}

func (s *State) ghostFields(f func(*uint8)) {
	f(&s.Now)
	for i := range s.C {
		f(&s.C[i].Started)
		f(&s.C[i].ReadAt)
		f(&s.C[i].Born)
		f(&s.C[i].Dlv)
		f(&s.C[i].MStarted)
		f(&s.C[i].Rests)
		f(&s.C[i].MBorn)
	}
	for u := range s.U {
		f(&s.U[u].Basis)
	}
	for k := range s.G {
		f(&s.G[k].LastAct)
		f(&s.G[k].LastScope)
		f(&s.G[k].Moved)
		f(&s.G[k].DueAt)
		f(&s.G[k].Claimed)
		f(&s.G[k].Named)
	}
	for i := range s.O {
		f(&s.O[i].M.Started)
		f(&s.O[i].M.Born)
	}
	for i := 0; i < int(s.N); i++ {
		f(&s.Net[i].Started)
		f(&s.Net[i].Born)
		f(&s.Net[i].Dlv)
	}
	for i := range s.A {
		f(&s.A[i].At)
	}
}

func compress(visit func(func(*uint8))) {
	var seen [256]bool
	visit(func(p *uint8) { seen[*p] = true })
	seen[0] = true
	var to [256]uint8
	var n uint8
	for i := range seen {
		if seen[i] {
			to[i] = n
			n++
		}
	}
	visit(func(p *uint8) { *p = to[*p] })
}

// canon sorts the network and, where only order and equality of indexes matter,
// replaces indexes by their ranks.
func (s *State) canon(rank bool) {
	if rank {
		compress(s.idxFields)
	}
	compress(s.ghostFields)
	var key [maxNet][22]uint8
	for i := 0; i < int(s.N); i++ {
		m := s.Net[i]
		x := m.bytes()
		j := i
		for ; j > 0 && bytes.Compare(key[j-1][:], x[:]) > 0; j-- {
			key[j] = key[j-1]
			s.Net[j] = s.Net[j-1]
		}
		key[j], s.Net[j] = x, m
	}
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func (m *Msg) bytes() [22]uint8 {
	return [22]uint8{m.Kind, m.Who, b2u(m.Cur), b2u(m.Chain), m.Key, m.Key2, uint8(m.Val), m.Ep, m.Base, m.Act, m.AK, m.Step, m.Cl, m.Res, b2u(m.RHas), uint8(m.ROff), m.RIdx, m.REp, m.Started, m.Cla, m.Born, m.Dlv}
}

func (s *State) encode(b []byte) []byte {
	b = s.St.encode(b)
	if s.HasTwin {
		b = s.Twin.encode(b)
	}
	return s.encodeRest(b)
}

func (st *Store) encode(b []byte) []byte {
	b = append(b, st.Idx, st.Cluster, st.Floor, st.NFl, st.NWin, st.Evicted, st.LastAct, st.ImpID, st.ImpNext, st.ImpBase, st.Ctr[0], st.Ctr[1])
	b = append(b, st.Cla[:]...)
	for _, p := range st.K {
		b = append(b, b2u(p.Has)|b2u(p.Pend)<<1, uint8(p.Off), p.Idx, p.Ep)
	}
	for i := 0; i < int(st.NFl); i++ {
		b = append(b, st.Fl[i].Scope, st.Fl[i].Idx)
	}
	for i := 0; i < int(st.NWin); i++ {
		w := st.Win[i]
		b = append(b, w.ID, w.Idx, w.Res, w.Next, b2u(w.Done))
	}
	return b
}

func (s *State) encodeRest(b []byte) []byte {
	b = append(b, s.Now, s.NA, s.N, s.Resends, s.Restarts, s.Snaps, s.Looks, s.Disaster)
	for _, c := range s.C {
		b = append(b, c.Phase, c.Ep, c.Cl, uint8(c.Mem), b2u(c.ReadNone)|b2u(c.Maybe)<<1|b2u(c.Lazy)<<2|b2u(c.Applied)<<3, c.Sends, c.Left, c.Started, c.ReadAt, c.Idx, uint8(c.Off), uint8(c.Val), c.Act, c.SetLeft, c.Why, c.Claim, c.Base, c.ClaimCl, c.Born, c.Dlv)
	}
	if s.NU > 0 {
		b = s.encodeBehind(b)
	}
	for i := range s.O {
		o := &s.O[i]
		x := o.M.bytes()
		b = append(b, b2u(o.Wait), o.Sends, o.Left)
		b = append(b, x[:]...)
	}
	for _, g := range s.G {
		b = append(b, uint8(g.Must), g.LastAct, g.LastID, b2u(g.LastRem), g.LastScope, g.Moved, g.DueAt, g.DueID, g.Claimed, g.ClaimID)
	}
	for i := 0; i < int(s.NA); i++ {
		a := s.A[i]
		b = append(b, a.Steps, a.At, b2u(a.Done)|b2u(a.Denied)<<1)
	}
	for i := 0; i < int(s.N); i++ {
		x := s.Net[i].bytes()
		b = append(b, x[:]...)
	}
	return b
}
