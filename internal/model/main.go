// Command model explores the rule of writing of Tidemark's offset store.
//
//	model repaired            every scenario under the repaired rule, completely
//	model stated              ... with the first wording of own Sets and notices
//	model small               the same with narrower bounds, to the end
//	model findings            the rule as written, one gap at a time: minimal traces
//	model planted             planted errors, each must be caught
//	model minimal             the variant with a single floor
//	model setepoch, refuse    options: Set compares epochs; acts refused whole (narrow bounds)
//	model walk [seconds]      random walks with larger bounds, three times
//	model walkplanted         do the random walks find the planted errors?
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type experiment struct {
	name      string
	scenarios string // comma separated; the first violation ends it
	rule      Rule
	tweak     func(*Config)
}

// small narrows the bounds so that a scenario is explored to its end.
func small(c *Config) {
	if c.Resends > 1 {
		c.Resends = 1
	}
	c.Restarts, c.Cap = 0, 8e6
	if c.Init[0] < 2 && c.MaxV > 2 {
		c.MaxV = 2
	}
	if len(c.Sets) > 0 && len(c.Cons) > 1 {
		c.Newer, c.Cap, c.Ops[0].N = false, 4e6, 1
		if c.SetN > 0 {
			c.Ops[0].Menu, c.Resends = c.Ops[0].Menu[:1], 0
			if c.NK == 1 && !c.Pairs {
				c.Restarts = 1
			}
		}
	}
	switch {
	case c.Users > 0:
		c.Resends, c.Cap = 0, 1e6
	case c.Claims:
		c.Resends, c.Restarts = 0, 1
	}
	for i := range c.Ops {
		if len(c.Ops[i].Menu) > 2 && c.Ops[i].N > 2 && c.W < 2 && len(c.Cons) > 1 {
			c.Ops[i].N = 2
		}
	}
}

// quiet leaves out the fair run to the end, so that a trace shows every step.
func quiet(c *Config) { c.Progress = false }

// bare leaves out the check of fences without a cause too.
func bare(c *Config) { c.Progress, c.NoSpurious = false, false }

func with(r Rule, f func(*Rule)) Rule { f(&r); return r }

func findings() []experiment {
	rep, min := Repaired(), Minimal()
	return []experiment{
		{"all as written", "set", AsWritten(), nil},
		{"F1 'fenced' always said to mean 'not applied'", "reset-2-commits", with(rep, func(r *Rule) { r.ClaimCommit = false }), quiet},
		{"F2 a resent Set answered fenced with its own value 'was done'", "set", with(rep, func(r *Rule) { r.ClaimSet = false }), quiet},
		{"F3 an act sent before another act, delivered after it", "reset", with(rep, func(r *Rule) { r.ActCheck = 0 }), quiet},
		{"F3b the same, import chunk", "import-merge", with(rep, func(r *Rule) { r.MergeNoCheck = true }), quiet},
		{"F4 'still no offset' goes on silently, as written", "absent", with(min, func(r *Rule) { r.Silent = 1 }), func(c *Config) { c.Progress = false; c.NoSpurious = false; c.Cons = []uint8{0} }},
		{"F5 single floor, silence narrowed: somebody else's key removed in between", "absent", min, func(c *Config) { c.Progress = false; c.NoSpurious = false }},
		{"F6 single floor: an innocent is told of a fence", "absent", with(min, func(r *Rule) { r.Silent = 2 }), func(c *Config) { c.Progress = false; c.Ops[0].Menu = []Act{{Kind: aRemoveG, T: 3}} }},
		{"F6b single floor, never silent", "absent", with(min, func(r *Rule) { r.Silent = 0 }), func(c *Config) { c.Progress = false; c.Ops[0].Menu = []Act{{Kind: aRemoveG, T: 3}} }},
		{"F7 Set of an absent key compares with 'no index'", "set-absent", with(rep, func(r *Rule) { r.SetAbsentZero = true }), quiet},
		{"F8 window of ids only, nothing refused", "window", with(rep, func(r *Rule) { r.WindowBase = false; r.ActCheck = 0 }), func(c *Config) { c.Progress = false; c.Ops[0].Menu = []Act{{Kind: aReset}, {Kind: aRemoveG, T: 3}} }},
		{"F8b 'refused' by the window said to mean 'not applied'", "window", with(rep, func(r *Rule) { r.ClaimAct = false }), func(c *Config) {
			c.Progress, c.Commits = false, 0
			c.Ops = []OpCfg{{[]Act{{Kind: aReset}}, 1}, {[]Act{{Kind: aRemoveG, T: 3}}, 1}}
		}},
		{"F8c no refusal by the window, but the check of epochs", "window,reset,clone,clone-absent,import-merge", with(rep, func(r *Rule) { r.WindowBase = false }), nil},
		{"F8d the same, an act that found nothing to do", "clone-absent", with(rep, func(r *Rule) { r.WindowBase = false }), quiet},
		{"F9 failed results are not kept", "clone-absent", with(rep, func(r *Rule) { r.RecordFailures = false }), quiet},
		{"F10 import ids outside the window of acts", "import-replace", with(rep, func(r *Rule) { r.ImportGuard = false }), quiet},
		{"F10b the same, no check of epochs either", "import-merge", with(rep, func(r *Rule) { r.ImportGuard = false; r.ActCheck = 0 }), func(c *Config) { c.Progress = false; c.Ops[0].Menu = c.Ops[0].Menu[:2] }},
		{"F11 epochs of a lost cluster mean something in the new one", "disaster", with(rep, func(r *Rule) { r.ClusterID = false }), quiet},
		{"F12 a cut removal moves the floor with its first entry only", "parts-and-set", with(rep, func(r *Rule) { r.PartFloorFirst = true; r.ActCheck = 0 }), func(c *Config) { c.Progress = false; c.Commits = 2; c.Ops[0].Menu = c.Ops[0].Menu[:1]; c.Ops[0].N = 1 }},
		{"F12b ... with its last entry only", "parts", with(rep, func(r *Rule) { r.PartFloorLast = true }), quiet},
		{"F13 a floor per scope, but room for one: an innocent may be told", "absent", with(rep, func(r *Rule) { r.ScopedFloor = 1 }), func(c *Config) {
			c.Progress = false
			c.Ops[0].Menu = []Act{{Kind: aRemoveG, T: 2}, {Kind: aRemoveG, T: 3}}
		}},
		{"F14 the read before the first commit happens at the first commit", "reset-2-commits", with(rep, func(r *Rule) { r.LazyRead = true }), quiet},
		{"F15 any read takes over the epoch", "reset-2-commits", with(rep, func(r *Rule) { r.AnyReadAdopts = true }), func(c *Config) { c.Progress = false; c.Looks = 1 }},
	}
}

// ownFindings are the gaps in the first wording of own Sets and notices.
func ownFindings() []experiment {
	rep := Repaired()
	by := func(n int) Rule { return with(rep, func(r *Rule) { r.SetKnown = n }) }
	return []experiment{
		{"F16 own Sets and notices as first worded", "own-set-entries-shared", Stated(), nil},
		{"F17 an own Set compares an index from an answer; an act shared that entry", "own-set-entries-shared", by(0), func(c *Config) { c.Progress = false; c.Cons = []uint8{0} }},
		{"F17b ... and the epoch; a commit of another shared that entry", "own-set-entries-shared", by(1), func(c *Config) { c.Progress = false; c.Ops = nil }},
		{"F17c index only, the answer gives the index of a position that is not the commit's", "own-set-2-consumers", with(by(0), func(r *Rule) { r.AckPosition = 1 }), func(c *Config) { c.Progress = false; c.Ops = nil }},
		{"F17d index only, the answer gives its entry's index", "own-set-2-consumers", with(by(0), func(r *Rule) { r.AckPosition = 0 }), func(c *Config) { c.Ops, c.Cons = nil, c.Cons[:1] }},
		{"F18 an own Set without the cluster id", "own-set-disaster", by(2), quiet},
		{"F19 a Set fenced by a commit is told as a missed act", "own-set-2-consumers", with(rep, func(r *Rule) { r.SetMoved = false }), quiet},
		{"F20 the query for newer epochs without the cluster id", "own-set-disaster", with(rep, func(r *Rule) { r.NoticeCluster = false }), nil},
	}
}

// claimFindings are the gaps in the first wording of pending positions and claims.
func claimFindings() []experiment {
	rep := Repaired()
	return []experiment{
		{"F21 an old instance that is fenced by a claim reads again and goes on", "claim", with(rep, func(r *Rule) { r.ClaimStops = false }), quiet},
		{"F22 the same, by the loss of the cluster", "claim-disaster", with(rep, func(r *Rule) { r.ClaimCluster = false }), quiet},
		{"F23 an import, a clone or a restore leaves a position that is not pending", "pending-acts", with(rep, func(r *Rule) { r.PendKept = false }), quiet},
		{"F24 a resent claim is answered with the index of now", "claim", with(rep, func(r *Rule) { r.ClaimIndex = false }), quiet},
		{"F25 a tool's act through an old instance, after the claim", "claim-tool", with(rep, func(r *Rule) { r.ActClaim = false }), quiet},
		{"F25b ... acts look at claims newer than their base", "claim-tool", with(rep, func(r *Rule) { r.ActClaim, r.ActSeesClaim = false, true }), quiet},
		{"F26 a late claim fences the instance that claimed after it", "claim", with(rep, func(r *Rule) { r.ClaimBase = false }), quiet},
		{"F27 a claim shares its entry with a Set of the instance before it", "claim-sets", with(rep, func(r *Rule) { r.ClaimAlone = false }), func(c *Config) {
			c.Progress, c.Pairs, c.Resends, c.Ops = false, true, 0, nil
		}},
	}
}

func planted() []experiment {
	rep, min := Repaired(), Minimal()
	omit := func(s string) Rule { return with(rep, func(r *Rule) { r.SnapOmit = s }) }
	return []experiment{
		{"epoch adopted from a fence's answer", "set", with(rep, func(r *Rule) { r.AdoptFromAnswer = true }), nil},
		{"epochs are counters of the topic", "two-queues", with(rep, func(r *Rule) { r.TopicCounter = true }), nil},
		{"the same, spurious fences not looked at", "reset", with(rep, func(r *Rule) { r.TopicCounter = true }), func(c *Config) { c.NoSpurious, c.Progress = false, false }},
		{"Set without compare-and-set", "set", with(rep, func(r *Rule) { r.SetNoCAS = true }), nil},
		{"no act ids, no check of epochs", "reset", with(rep, func(r *Rule) { r.NoActIDs = true; r.ActCheck = 0 }), nil},
		{"no act ids, check of epochs on", "window,reset,clone,clone-absent,expire-1-op,replace", with(rep, func(r *Rule) { r.NoActIDs = true }), nil},
		{"floor not moved by removal (scoped)", "reset", with(rep, func(r *Rule) { r.FloorStays = true }), nil},
		{"floor not moved by removal (single)", "reset", with(min, func(r *Rule) { r.FloorStays = true }), nil},
		{"floor not moved by expire", "expire-1-op", with(rep, func(r *Rule) { r.ExpireFloor = true }), nil},
		{"expire without the listed index", "expire-1-op", with(rep, func(r *Rule) { r.ExpireNoGuard = true }), nil},
		{"an act that changes no offset leaves index and epoch", "reset,set,window", with(rep, func(r *Rule) { r.NoopSetKeeps = true }), func(c *Config) {
			c.Ops[0].Menu = append(c.Ops[0].Menu, Act{Kind: aSet, Val: 1}, Act{Kind: aReset, Val: 1})
		}},
		{"a key created by a commit takes the commit's index as epoch", "absent", with(rep, func(r *Rule) { r.CreateOwnIndex = true }), nil},
		{"clone leaves the destination's epoch", "clone", with(rep, func(r *Rule) { r.CloneKeepsEpoch = true }), nil},
		{"replace keeps the backup's indexes (expire)", "expire-1-op", with(rep, func(r *Rule) { r.FileIndexes = true }), func(c *Config) { c.Ops = []OpCfg{{[]Act{{Kind: aExpire}}, 1}, {[]Act{{Kind: aReplaceAll}}, 1}} }},
		{"replace keeps the backup's indexes (set)", "set", with(rep, func(r *Rule) { r.FileIndexes = true }), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{{Kind: aSet, Val: 0}, {Kind: aReplaceAll}}, 2}}
		}},
		{"snapshot without epochs", "snapshots", omit("epochs"), nil},
		{"snapshot without indexes", "snapshots,snapshots-import", omit("indexes"), nil},
		{"snapshot without floors of scopes", "snapshots", omit("scope floors"), nil},
		{"snapshot without the floor (single)", "snapshots", with(min, func(r *Rule) { r.SnapOmit = "floor" }), nil},
		{"snapshot without the window", "snapshots,snapshots-import", omit("window"), nil},
		{"snapshot without the newest forgotten index", "snapshots,clone-absent", omit("evicted"), func(c *Config) { c.Snaps = 1 }},
		{"snapshot without the import", "snapshots-import", omit("import"), nil},
		{"snapshot without the index of the last act", "snapshots-import,replace", omit("last act"), func(c *Config) { c.Snaps = 1 }},
		{"fenced only if older, new cluster", "disaster", with(rep, func(r *Rule) { r.GreaterEpoch = true; r.ClusterID = false }), nil},
		{"own: the old epoch is kept after an own Set", "own-set", with(rep, func(r *Rule) { r.OwnKeepsOld = true }), quiet},
		{"own: the epoch after an own Set is read, not the Set's", "own-set", with(rep, func(r *Rule) { r.OwnReadsEpoch = true }), quiet},
		{"own: the epoch is taken over though the Set's outcome is unknown", "own-set", with(rep, func(r *Rule) { r.AdoptUnknown = true }), quiet},
		{"own: Set without compare", "own-set", with(rep, func(r *Rule) { r.SetNoCAS = true }), func(c *Config) { c.Progress, c.Ops[0].Menu = false, c.Ops[0].Menu[:1] }},
		{"own: a fenced Set is sent again on the position in the answer", "own-set", with(rep, func(r *Rule) { r.SetRebased = true }), quiet},
		{"own: a Set leaves the epoch of the key", "own-set", with(rep, func(r *Rule) { r.SetKeepsEpoch = true }), func(c *Config) { c.Progress, c.Ops = false, nil }},
		{"own: notice ignored", "notice", with(rep, func(r *Rule) { r.NoticeIgnored = true }), nil},
		{"own: an answer to a commit without the offset", "own-set-2-consumers", with(rep, func(r *Rule) { r.AckPosition = 1 }), nil},
		{"own: a broker takes over the epoch without the position (fence)", "broker-2-instances", with(rep, func(r *Rule) { r.TakesEpochOnly = true }), func(c *Config) { c.Progress, c.Notice, c.SetN, c.Commits = false, false, 0, 2 }},
		{"own: ... (notice)", "broker-2-instances", with(rep, func(r *Rule) { r.TakesEpochOnly = true }), func(c *Config) { c.Progress, c.SetN = false, 0 }},
		{"own: a broker takes over the epoch of a fence's answer", "broker-2-instances", with(rep, func(r *Rule) { r.AdoptFromAnswer = true }), func(c *Config) { c.Progress, c.SetN, c.Commits = false, 0, 2 }},
		{"claim: a claim clears the mark", "pending", with(rep, func(r *Rule) { r.PendCleared = true }), bare},
		{"claim: an import clears the mark", "pending-acts", with(rep, func(r *Rule) { r.PendKept = false }), bare},
		{"claim: every act sets the mark", "claim-and-consumer", with(rep, func(r *Rule) { r.PendSetByAll = true }), bare},
		{"claim: a commit that raises nothing leaves the mark", "pending", with(rep, func(r *Rule) { r.PendNoRaise = true }), nil},
		{"claim: the broker takes over a pending key's epoch at once", "pending", with(rep, func(r *Rule) { r.TakesAtOnce = true }), bare},
		{"claim: snapshot without marks", "claim-snapshots", omit("pending"), bare},
		{"claim: snapshot without claims", "claim-snapshots", omit("claims"), bare},
		{"claim: not looked at for keys that do not exist", "claim-absent", with(rep, func(r *Rule) { r.ClaimAbsent = true }), bare},
		{"claim: forgotten when another scope is claimed", "claim-scopes", with(rep, func(r *Rule) { r.ClaimOne = true }), bare},
		{"claim: forgotten when keys of its scope are removed", "claim-absent", with(rep, func(r *Rule) { r.ClaimByRemoval = true }), func(c *Config) { bare(c); c.Ops[0].Menu = []Act{{Kind: aReplaceAll}} }},
		{"claim: a late read is answered with the asker's claim", "claim", with(rep, func(r *Rule) { r.ReadOld = true }), bare},
		{"claim: a read answers the key's own epoch", "claim", with(rep, func(r *Rule) { r.ReadNoClaim = true }), func(c *Config) { c.NoSpurious = false }},
		{"claim: a commit is compared with the key's own epoch", "claim", with(rep, func(r *Rule) { r.CommitNoClaim = true }), func(c *Config) { c.NoSpurious = false }},
		{"claim: both read and commit without claims", "claim", with(rep, func(r *Rule) { r.CommitNoClaim, r.ReadNoClaim = true, true }), bare},
	}
}

// plantedBehind are errors of brokers with consumers behind them, each against a
// sentence of their rule.
func plantedBehind() []experiment {
	by := func(f func(*Rule)) Rule { return with(Repaired(), f) }
	narrow := func(c *Config) { c.Progress, c.Resends, c.Restarts = false, 0, 0 }
	return []experiment{
		{"slave: a value that waits gets the new epoch when the key is read", "slave-reads", by(func(r *Rule) { r.Restamp = true }), narrow},
		{"slave: ... after a claim", "slave", by(func(r *Rule) { r.Restamp = true }), func(c *Config) { narrow(c); c.Ops = nil }},
		{"slave: a fenced value is sent again with the epoch in the answer", "slave", by(func(r *Rule) { r.FenceAdopts = true }), narrow},
		{"slave: a moved key is taken over and not closed", "slave", by(func(r *Rule) { r.NotClosed = true }), narrow},
		{"slave: a closed key is opened once it is pending no more", "slave-2", by(func(r *Rule) { r.Forgetful = true }), narrow},
		{"slave: of a moved key the higher offset stays", "slave-reads", by(func(r *Rule) { r.KeepsValue = true }), narrow},
		{"slave: who has read opens the key for all", "slave-3", by(func(r *Rule) { r.OpenAll = true }), narrow},
		{"slave: a claim closes keys", "slave", by(func(r *Rule) { r.MovedByClaim = true }), narrow},
		{"slave: a key created under a new claim is taken for moved", "slave-absent", by(func(r *Rule) { r.CreatedCloses = true }), narrow},
		{"slave: a key removed and created under a new claim is not", "slave-entries-shared", by(func(r *Rule) { r.CreatedStays = true }), func(c *Config) { narrow(c); c.Progress, c.Pairs, c.Ops[0].Menu = true, false, []Act{rem(0)} }},
		{"slave: a late read is taken over", "slave-reads", by(func(r *Rule) { r.LateReads = true }), narrow},
		{"slave: keys of another cluster are not closed", "slave-disaster", by(func(r *Rule) { r.ForeignOpen = true }), narrow},
		{"slave: a value that waits at its promotion is sent under the claim", "slave-promoted", by(func(r *Rule) { r.PromoteKeeps, r.Restamp = true, true }), narrow},
		{"slave: a promotion opens what is closed", "slave-promoted-acts", by(func(r *Rule) { r.PromoteOpens = true }), narrow},
		{"slave: an old master takes over the epoch of the claim", "slave-old-master", by(func(r *Rule) { r.OldMasterFollows = true }), narrow},
		{"consumer: a master believes everybody", "consumer-acts", by(func(r *Rule) { r.OpenMaster = true }), narrow},
		{"consumer: any value of the taker shows that it has followed", "consumer", by(func(r *Rule) { r.FollowAny = true }), narrow},
		{"consumer: the value assigned shows it, whoever sends it", "consumer-2", by(func(r *Rule) { r.FollowOther = true }), func(c *Config) { narrow(c); c.Init[0], c.Ops[0].Menu = 0, []Act{reset(0, 1)} }},
		{"consumer: who has followed opens the key for all", "consumer-2", by(func(r *Rule) { r.OpenAll = true }), narrow},
		{"consumer: a pull takes a reset before what was sent earlier", "consumer-twice", by(func(r *Rule) { r.PullOvertakes = true }), narrow},
		{"consumer: values of one connection overtake one another", "consumer", by(func(r *Rule) { r.Overtaking = true }), narrow},
		{"consumer: pending keys are not closed at a start", "consumer", by(func(r *Rule) { r.PendingOpen = true }), func(c *Config) { narrow(c); c.Restarts, c.NoFile = 1, true }},
		{"consumer: the file's mark passes acts that nobody has followed", "consumer-acts", by(func(r *Rule) { r.MarkGoesOn = true }), func(c *Config) { narrow(c); c.Restarts = 1 }},
	}
}

func run(e experiment, verbose bool) bool {
	for _, n := range strings.Split(e.scenarios, ",") {
		c := scenario(n)
		if e.tweak != nil {
			e.tweak(&c)
		}
		m := &Model{Config: c, Rule: e.rule}
		r := m.explore()
		fmt.Printf("## %s [%s]\n      %s\n", e.name, n, r)
		if r.Viol != "" {
			return true
		}
	}
	return false
}

func main() {
	mode, arg := "repaired", ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	if len(os.Args) > 2 {
		arg = os.Args[2]
	}
	switch mode {
	case "findings", "planted":
		es := append(append(findings(), ownFindings()...), claimFindings()...)
		if mode == "planted" {
			es = append(planted(), plantedBehind()...)
		}
		caught := 0
		var missed []string
		for _, e := range es {
			if arg != "" && !strings.HasPrefix(e.name, arg) {
				continue
			}
			if run(e, true) {
				caught++
			} else {
				missed = append(missed, e.name)
			}
		}
		fmt.Printf("violations found in %d; none in: %s\n", caught, strings.Join(missed, "; "))
	case "repaired", "stated", "minimal", "refuse", "small", "setepoch":
		rule := Repaired()
		switch mode {
		case "stated":
			rule = Stated()
		case "minimal":
			rule = Minimal()
		case "setepoch":
			rule.SetEpochCAS = true
		case "refuse":
			rule.ActCheck = 2
		}
		total, bad := 0, 0
		cov := map[string]int{}
		for _, c := range scenarios() {
			if arg != "" && !strings.Contains(","+arg+",", ","+c.Name+",") {
				continue
			}
			if mode != "repaired" && mode != "stated" {
				small(&c)
			}
			m := &Model{Config: c, Rule: rule}
			r := m.explore()
			fmt.Printf("%-34s %s\n", c.Name, r)
			total += r.States
			if r.Viol != "" {
				bad++
			}
			for k, v := range r.Cov {
				cov[k] += v
			}
		}
		fmt.Printf("%d states, %d scenarios violated\n", total, bad)
		printCov(cov)
	case "walkplanted":
		for _, e := range append(append(planted(), findings()...), claimFindings()...) {
			c := large()
			if strings.HasPrefix(e.name, "own") || e.name >= "F16" && e.name < "F99" {
				c = largeOwn()
			}
			if strings.HasPrefix(e.name, "claim") || e.name >= "F21" && e.name < "F99" {
				c = largeClaim()
			}
			if e.rule.LazyRead || e.rule.AnyReadAdopts {
				c.Looks = 3
			}
			if !e.rule.ClusterID || !e.rule.NoticeCluster || e.rule.SetKnown < 3 {
				c.Disaster = 1
			}
			m := &Model{Config: c, Rule: e.rule}
			runs, steps, v, t := m.walk(4*time.Second, 1)
			fmt.Printf("%-70s %d walks, %d steps: %q in %d steps\n", e.name, runs, steps, v, len(t))
		}
	case "walk":
		d := 60.0
		if arg != "" {
			d, _ = strconv.ParseFloat(arg, 64)
		}
		seed := time.Now().UnixNano()
		if len(os.Args) > 3 {
			seed, _ = strconv.ParseInt(os.Args[3], 10, 64)
		}
		for _, c := range []Config{large(), largeOwn(), largeBroker(), largeClaim()} {
			m := &Model{Config: c, Rule: Repaired()}
			runs, steps, v, t := m.walk(time.Duration(d*float64(time.Second)), seed)
			fmt.Printf("%s, seed %d: %d walks, %d steps; violation: %q\n      %s\n", c.Name, seed, runs, steps, v, strings.Join(t, "\n      "))
			printCov(m.cov)
		}
	}
}

func printCov(cov map[string]int) {
	var ks []string
	for k := range cov {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	for _, k := range ks {
		fmt.Printf("  %12d  %s\n", cov[k], k)
	}
}
