package main

import (
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// commitShare is where the time of a commit goes.
type commitShare struct {
	// Way is the round trip from here to the leader, Hearing what it takes to hear
	// of a quorum besides, without its disks: medians.
	Way     durationUS `json:"wayUs"`
	Hearing durationUS `json:"hearingUs"`
	// Entries is how many log entries the leader counted meanwhile, those of
	// others among them; what follows is what one took on average in each stage
	// (see offset.Stages). 0 if somebody else led in the end.
	Entries  uint64     `json:"entries"`
	Queue    durationUS `json:"queueUs"`
	Log      durationUS `json:"logUs"`
	Quorum   durationUS `json:"quorumUs"`
	Handover durationUS `json:"handoverUs"`
	Apply    durationUS `json:"applyUs"`
}

// shareOf is what an entry took between two looks at one member.
func shareOf(before, after *offset.Vitals) (c commitShare) {
	if after.Entries <= before.Entries {
		return c
	}
	c.Entries = after.Entries - before.Entries
	each := func(from, to time.Duration) durationUS { return us((to - from) / time.Duration(c.Entries)) }
	a, b := &before.Stages, &after.Stages
	c.Queue, c.Log, c.Quorum = each(a.Queue, b.Queue), each(a.Log, b.Log), each(a.Quorum, b.Quorum)
	c.Handover, c.Apply = each(a.Handover, b.Handover), each(a.Apply, b.Apply)
	return c
}

func (c *commitShare) table(t *table) {
	t.line("of a commit %s are the way to the leader and back", c.Way)
	if c.Entries == 0 {
		t.line("what the leader does is not known: it changed meanwhile, so measure again")
		return
	}
	t.line("an entry took on the leader, on average of %s:", plural(c.Entries, "entry", "entries"))
	t.row("QUEUE", "LOG", "QUORUM", "HANDOVER", "APPLY")
	t.row(c.Queue.String(), c.Log.String(), c.Quorum.String(), c.Handover.String(), c.Apply.String())
}

// limit is a part of a commit's time, and what to do if it is the largest.
type limit struct {
	name   string
	took   durationUS
	advice string
}

// limit is the part that takes most. The queue is none: requests wait in it for
// what the entries before them wait for.
func (c *commitShare) limit() limit {
	followers := limit{"the followers' disks", c.Quorum,
		"measure the followers' disks (tidemark check disk), and give them faster ones"}
	if 2*c.Hearing >= c.Quorum {
		followers = limit{"the way between the members", max(c.Quorum, c.Hearing), "look at the network between the members, and at how busy they are"}
	}
	return slices.MaxFunc([]limit{
		{"the way from here to the leader", c.Way, "look at the network from here to the leader: it is not the cluster that is slow"},
		{"the leader's disk", c.Log, "measure the leader's disk (tidemark check disk), and give it a faster one"},
		followers,
		{"raft's loop on the leader", c.Handover, "look at how busy the leader's processors and its disk are: the loop writes its log, too"},
		{"the state machine", c.Apply, "look at how busy the leader's processors are, and for acts on many keys in its audit log"},
	}, func(a, b limit) int { return int(a.took - b.took) })
}
