package main

import (
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// What is taken for wrong. Each bound leaves a sound cluster in peace, under load too.
const (
	// mostLag is how many entries a member may lack: about what a busy cluster
	// writes in a second.
	mostLag = 1000
	// mostSkew is how far clocks may be apart. They decide nothing, but they
	// stamp positions and audit lines.
	mostSkew = time.Second
	// leastFree and leastPart are the space that must be free on a disk, in
	// bytes and in percent, whichever is less.
	leastFree = 5 << 30
	leastPart = 10
)

// judge lists what is wrong with the members, and with the cluster as a whole.
func (r *healthResult) judge() {
	if r.Leader == "" {
		r.add("", "a majority of the voters must be up and reach each other on their peer ports", "nobody leads")
	}
	for i := range r.Members {
		m := &r.Members[i]
		if m.State == "unreachable" {
			r.add(m.ID, "see that it runs, and that its API address is reachable from here", "does not answer (%s)", r.seen[i].err)
		} else {
			r.judgeState(i)
			r.judgeDisk(i)
		}
		if m.ContactMS >= silentFor.Milliseconds() {
			r.add(m.ID, "see that the members reach each other on their peer ports", "has not been heard of by the leader for %s", span(time.Duration(m.ContactMS)*time.Millisecond))
		}
	}
	r.judgeVoters()
	r.judgeLevels()
}

// judgeState looks at a member's part in the cluster.
func (r *healthResult) judgeState(i int) {
	m, x := &r.Members[i], &r.seen[i]
	if !m.Ready {
		r.add(m.ID, "its log and its /readyz say more", "is not ready: %s", x.NotReady)
	}
	if m.Lag > mostLag {
		r.add(m.ID, "look at its disk (tidemark check disk) and its network; if it is new, let it catch up", "lacks %d entries of the log", m.Lag)
	}
	for j := range i {
		if o := &r.Members[j]; o.Index == m.Index && o.Digest != m.Digest && o.Digest != "" && r.seen[j].err == nil {
			r.add(m.ID, "keep the data folders of both; where a state has a majority of the voters, the members' own comparison takes the rest out, and where none has, see \"Members disagree\" in docs/operations.md", "and %s hold different states at index %d", shown(o.ID), m.Index)
		}
	}
	limit := max(mostSkew, x.slack+mostSkew/2)
	switch skew := time.Duration(m.SkewMS) * time.Millisecond; {
	case skew > limit:
		r.add(m.ID, "set the clocks (NTP)", "has a clock that is %s ahead of the leader's", span(skew))
	case skew < -limit:
		r.add(m.ID, "set the clocks (NTP)", "has a clock that is %s behind the leader's", span(-skew))
	}
}

// makeRoom is what to do about a disk that has little free space.
const makeRoom = "make room, or give it a larger disk: a full disk ends the node"

// lowSpace says that a member's disk may be full before its next snapshot is
// written; "" if it has room, or does not know.
func lowSpace(v *offset.Vitals) string {
	if v.DiskTotal == 0 || v.DiskFree >= v.DiskNeeded {
		return ""
	}
	return fmt.Sprintf("has %s free on its disk, and may need %s until its next snapshot is written", bytesOf(v.DiskFree), bytesOf(v.DiskNeeded))
}

// judgeDisk looks at a member's disk and timers.
func (r *healthResult) judgeDisk(i int) {
	m, v := &r.Members[i], &r.seen[i].Vitals
	switch low := lowSpace(v); {
	case low != "":
		r.add(m.ID, makeRoom, "%s", low)
	case v.DiskTotal > 0 && v.DiskFree < min(leastFree, v.DiskTotal*leastPart/100):
		r.add(m.ID, makeRoom, "has %s of %s free", bytesOf(v.DiskFree), bytesOf(v.DiskTotal))
	}
	limit := us(v.Lease / 3)
	switch {
	case v.Lease == 0 || v.DiskWrites == 0: // it does not say, or has not written
	case m.Mean > limit:
		r.add(m.ID, "use a faster disk, or one that nothing else writes to (tidemark check disk says more)", "takes %s for a write to its disk on average, more than %s: commits and elections wait for it", m.Mean, limit)
	case m.Longest > us(v.Lease):
		r.note("%s has once taken %s for a write since it started, for which commits waited", shown(m.ID), m.Longest)
	}
}

// judgeVoters looks at what the cluster bears.
func (r *healthResult) judgeVoters() {
	voters := 0
	leases := map[int64]string{}
	for i := range r.Members {
		m := &r.Members[i]
		if m.Role != "nonvoter" {
			voters++
		} else if r.seen[i].err == nil && m.Lag >= 0 && m.Lag <= mostLag {
			r.note("%s is a nonvoter that has caught up: tidemark cluster promote %s --execute", shown(m.ID), shown(m.ID))
		}
		if m.LeaseMS > 0 && leases[m.LeaseMS] == "" {
			leases[m.LeaseMS] = m.ID
		}
	}
	switch {
	case voters == 1:
		r.note("the only voter is the whole cluster: its loss is that of the offsets")
	case voters%2 == 0:
		r.note("%d voters bear the loss of no more than %d do", voters, voters-1)
	}
	if len(leases) > 1 {
		r.add("", "start all members with the same --timers", "members have different timers")
	}
}

// judgeLevels looks at versions.
func (r *healthResult) judgeLevels() {
	least, versions := uint8(0), map[string]bool{}
	for i := range r.Members {
		if r.seen[i].err != nil {
			return // what is not known may read less
		}
		if m := &r.Members[i]; least == 0 || m.Level < least {
			least = m.Level
		}
		versions[r.Members[i].Version] = true
	}
	if len(versions) > 1 {
		r.note("members run %d different versions; that is meant for the time of an upgrade", len(versions))
	}
	if least > r.Level {
		r.note("all members read format level %d, and the cluster uses %d", least, r.Level)
	}
}
