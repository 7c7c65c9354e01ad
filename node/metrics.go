package node

import (
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// counters are what the node counts itself. They only grow, but for the
// gauges that Metrics computes.
type counters struct {
	commits, sets, acts, fetched atomic.Uint64
	requests, entries            atomic.Uint64
	entryBytes, largestEntry     atomic.Uint64
	rounds, roundReads           atomic.Uint64
	forwarded                    atomic.Uint64
	snapshots, checkpoints       atomic.Uint64
	restarts                     atomic.Uint64
	auditDropped, denied         atomic.Uint64
	writes, writeBytes           atomic.Uint64
	writeNanos, longestWrite     atomic.Uint64
	recent                       recentWrites
	snapshotNanos                atomic.Uint64

	// costed counts entries that were proposed here and applied, the others add
	// up what they took in each stage.
	costed                       atomic.Uint64
	queue, log, quorum, handover atomic.Uint64
	apply                        atomic.Uint64
}

func (c *counters) proposed(requests, bytes int) {
	c.requests.Add(uint64(requests))
	c.entries.Add(1)
	c.entryBytes.Add(uint64(bytes))
	raise(&c.largestEntry, uint64(bytes))
}

// raise makes v the larger of itself and to.
func raise(v *atomic.Uint64, to uint64) {
	for old := v.Load(); to > old && !v.CompareAndSwap(old, to); old = v.Load() {
	}
}

// cost adds up what an entry took.
func (c *counters) cost(e *EntryCost) {
	c.costed.Add(1)
	c.queue.Add(uint64(e.Stages.Queue))
	c.log.Add(uint64(e.Stages.Log))
	c.quorum.Add(uint64(e.Stages.Quorum))
	c.handover.Add(uint64(e.Stages.Handover))
	c.apply.Add(uint64(e.Stages.Apply))
}

// stages are the sums since the start.
func (c *counters) stages() offset.Stages {
	d := func(v *atomic.Uint64) time.Duration { return time.Duration(v.Load()) }
	return offset.Stages{Queue: d(&c.queue), Log: d(&c.log), Quorum: d(&c.quorum), Handover: d(&c.handover), Apply: d(&c.apply)}
}

// wrote counts a write of log, term or vote.
func (c *counters) wrote(d time.Duration, bytes int) {
	c.writes.Add(1)
	c.writeBytes.Add(uint64(bytes))
	c.writeNanos.Add(uint64(d))
	raise(&c.longestWrite, uint64(d))
	c.recent.add(d)
}

// Metric is one value of the node's own metrics.
type Metric struct {
	// Name has no prefix. Help says what it counts, with its unit.
	Name, Help string
	// Counter distinguishes a counter from a gauge.
	Counter bool
	Value   float64
}

// Metrics returns the values of the node's own metrics as they are now. They
// are cheap to take and never touch the disk; the names are always the same.
func (n *Node) Metrics() []Metric {
	c := &n.counts
	list := []Metric{
		counted("commits_total", "Commits decided by this member as the leader.", &c.commits),
		counted("sets_total", "Sets decided by this member as the leader.", &c.sets),
		counted("act_entries_total", "Entries of acts decided by this member as the leader.", &c.acts),
		counted("fetched_total", "Keys read from this member.", &c.fetched),
		counted("proposed_requests_total", "Requests proposed by this member.", &c.requests),
		counted("proposed_entries_total", "Log entries proposed by this member.", &c.entries),
		counted("proposed_bytes_total", "Bytes of log entries proposed by this member.", &c.entryBytes),
		{"proposed_largest_bytes", "The largest log entry proposed by this member since the start, in bytes.", false, float64(c.largestEntry.Load())},
		counted("read_rounds_total", "Confirmations of leadership for reads.", &c.rounds),
		counted("read_round_reads_total", "Reads that shared these confirmations.", &c.roundReads),
		counted("forwarded_total", "Requests forwarded to the leader.", &c.forwarded),
		counted("snapshots_total", "Snapshots taken by this member.", &c.snapshots),
		seconds("snapshot_seconds_total", "Time that these snapshots took, from the order to the last sync, in seconds.", &c.snapshotNanos),
		counted("checkpoints_agreed_total", "Checkpoints at which this member had the majority's state.", &c.checkpoints),
		counted("raft_restarts_total", "Times that raft was started anew inside this process.", &c.restarts),
		counted("denied_total", "Requests refused since their caller is not known, or has no right to them.", &c.denied),
		{"audit_dropped_total", "Audit lines dropped, each run of them named by a gap line.", true, float64(c.auditDropped.Load() + n.auditing.Dropped())},
		counted("disk_write_bytes_total", "Bytes of entries that were written to the log.", &c.writeBytes),
		{"disk_write_longest_seconds", "The longest write of log, term or vote since the start, syncs included, in seconds.", false, nanos(c.longestWrite.Load())},
	}
	return append(list, n.gauges()...)
}

func counted(name, help string, v *atomic.Uint64) Metric {
	return Metric{name, help, true, float64(v.Load())}
}

func seconds(name, help string, v *atomic.Uint64) Metric {
	return Metric{name, help, true, nanos(v.Load())}
}

func nanos(n uint64) float64 { return float64(n) / 1e9 }

// gauges are zero while raft does not run.
func (n *Node) gauges() []Metric {
	var queues, groups, tableBytes, index, waiting, bytes, longest, taking, restoring, snapshot, largest, logBytes, tail, free, needed, low, leads, alarm float64
	if r := n.replica.Load(); r != nil {
		root := r.machine.Root()
		queues, groups, index = float64(root.Queues()), float64(root.Groups()), float64(root.Index())
		tableBytes = float64(root.Bytes())
		waiting, bytes = float64(len(r.proposer.in)), float64(r.proposer.waitingBytes.Load())
		longest = nanos(uint64(r.machine.longest.Load()))
		taking = nanos(uint64(r.machine.taking.Load()))
		restoring, snapshot = nanos(uint64(r.machine.restoring.Load())), float64(r.snap.size.Load())
		largest = float64(r.acks.largest.Load())
		logBytes, tail = float64(r.disk.LogBytes()), float64(r.disk.LogBytesAfter(r.snapshotIndex()))
		free, needed, low = float64(r.space.free.Load()), float64(r.space.needed.Load()), number(r.space.low.Load())
		leads, alarm = number(r.lead.leads()), number(r.alarm.Load())
	}
	return []Metric{
		{"queues", "Offsets in the table.", false, queues},
		{"groups", "Groups in the table.", false, groups},
		{"table_bytes", "About how much memory the table takes, with what an import has staged, in bytes.", false, tableBytes},
		{"applied_index", "Index of the last entry applied.", false, index},
		{"waiting_requests", "Requests that wait to be proposed.", false, waiting},
		{"waiting_bytes", "Bytes of requests that wait to be proposed.", false, bytes},
		{"apply_longest_seconds", "The longest batch applied since the start, in seconds.", false, longest},
		{"snapshot_take_longest_seconds", "The longest that taking a snapshot kept Apply waiting since the start, in seconds; it is written beside Apply.", false, taking},
		{"snapshot_bytes", "Bytes of the newest snapshot of this member.", false, snapshot},
		{"restore_longest_seconds", "The longest that restoring a snapshot took since the start, in seconds; nothing is applied meanwhile.", false, restoring},
		{"append_largest_bytes", "The most bytes of entries in one append to a follower.", false, largest},
		{"log_bytes", "Bytes of entries in the log.", false, logBytes},
		{"log_tail_bytes", "Bytes of entries behind the newest snapshot, which a restart replays.", false, tail},
		{"disk_free_bytes", "Bytes that are free on the file system of the data folder.", false, free},
		{"disk_needed_bytes", "Bytes that this member may take until its next snapshot is written.", false, needed},
		{"disk_low", "1 while fewer bytes are free than are needed; it ends when an eighth more are.", false, low},
		{"leader", "1 while this member leads.", false, leads},
		{"ready", "1 while this member serves.", false, number(n.Ready() == nil)},
		{"digest_alarm", "1 while states differ and none has a majority; meanwhile no snapshots are taken and the log is not cut.", false, alarm},
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
