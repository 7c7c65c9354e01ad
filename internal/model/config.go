package main

import "fmt"

// Act is an entry of an operator's menu. T is a key (set), a group or a topic.
type Act struct {
	Kind  uint8
	T, T2 uint8
	Val   int8
}

// OpCfg is what an operator may do.
type OpCfg struct {
	Menu []Act
	N    uint8 // acts it may issue
}

// Config bounds a scenario.
type Config struct {
	Name          string
	NK            int
	Group, Topic  [maxK]uint8
	Init          [maxK]int8  // -1: no offset
	Cons          []uint8     // the key of each consumer
	Commits       uint8       // per consumer
	Sets          []int8      // what a consumer may set its own key to
	SetN          uint8       // own Sets per consumer
	Notice        bool        // idle consumers ask for newer epochs
	Inst          [maxC]uint8 // consumers of the same number are one broker instance; 0: a consumer by itself
	Claims        bool        // positions are marked pending; instances claim at their start
	Via           [maxO]uint8 // 1+slot of the instance that an operator's acts go through; 0: none
	Scope         [maxC]uint8 // of an instance's claim: 0 the broker, 1+g a group
	Users         int         // consumers behind brokers: then the slots are brokers, and commit nothing of their own
	UserAt        [maxU]uint8 // bit per slot that the consumer talks to; 0: all
	NoFile        bool        // brokers start without a mark in their file
	Reads         uint8       // reads per consumer behind brokers
	Slave         [maxC]bool  // slots that begin as slaves
	Promotes      uint8       // promotions of slaves
	Demotes       uint8       // old masters that come back as slaves
	Piggyback     bool        // a pull that takes a reset commits on its back
	ReadsTakeTime bool        // a slave's read for a 14 comes back at any later time
	MaxV          int8
	Ops           []OpCfg
	Content       [maxK]int8 // of replaces and imports; -1: not in the file
	Resends       uint8
	Restarts      uint8
	Snaps         uint8
	Looks         uint8
	Disaster      uint8
	W             int  // window of act ids
	Newer         bool // a resend may carry a newer offset
	Pairs         bool // two requests may share an entry
	NoSpurious    bool // check that whoever is told of a fence missed an act in whose scope its key was
	Progress      bool // check from every state that every consumer can still commit
	Cap           int
}

// Model is a scenario under a rule.
type Model struct {
	Config
	Rule
	tr  bool
	cov map[string]int
}

func (m *Model) hit(s string) {
	if m.cov != nil {
		m.cov[s]++
	}
}

func (s *State) bad(f string, a ...any) {
	if s.viol == "" {
		s.viol = fmt.Sprintf(f, a...)
	}
}
