package main

import "testing"

// TestScenarioHolds explores one small scenario to its end: no state of it
// breaks a promise. Breadth-first search gives the same numbers in every run, so
// that a change of the model shows in them.
func TestScenarioHolds(t *testing.T) {
	c := scenario("set-1-act")
	small(&c)
	r := (&Model{Config: c, Rule: Repaired()}).explore()
	if r.Viol != "" || !r.Full {
		t.Fatal(r)
	}
	if r.States != 11280 || r.Depth != 15 {
		t.Fatalf("%d states, depth %d; 11280 and 15 when the rule was checked", r.States, r.Depth)
	}
}

// TestBrokersHold explores what consumers behind a master, and behind a slave whose
// reads take time, can do, to its end.
func TestBrokersHold(t *testing.T) {
	for name, states := range map[string]int{"consumer": 28596, "slave-reads": 7410} {
		t.Run(name, func(t *testing.T) {
			c := scenario(name)
			small(&c)
			c.Ops[0].N = 1
			r := (&Model{Config: c, Rule: Repaired()}).explore()
			if r.Viol != "" || !r.Full {
				t.Fatal(r)
			}
			if r.States != states {
				t.Fatalf("%d states; %d when the rule was checked", r.States, states)
			}
		})
	}
}

// TestPlantedErrorsAreFound shows that the promises bite: each error that is
// planted in the rule is found, by the shortest way to it.
func TestPlantedErrorsAreFound(t *testing.T) {
	for _, name := range []string{
		"Set without compare-and-set",
		"floor not moved by removal (scoped)",
		"own: the old epoch is kept after an own Set",
		"claim: a claim clears the mark",
		"slave: ... after a claim",
		"slave: a late read is taken over",
		"slave: who has read opens the key for all",
		"consumer: any value of the taker shows that it has followed",
	} {
		t.Run(name, func(t *testing.T) {
			for _, e := range append(planted(), plantedBehind()...) {
				if e.name != name {
					continue
				}
				c := scenario(e.scenarios)
				if e.tweak != nil {
					e.tweak(&c)
				}
				r := (&Model{Config: c, Rule: e.rule}).explore()
				if r.Viol == "" || len(r.Trace) == 0 || len(r.Trace) > 11 {
					t.Fatalf("not found in up to 11 steps: %s", r)
				}
				return
			}
			t.Fatal("no such error is planted")
		})
	}
}
