// Package planted names mistakes that systems of this kind are known for, and
// plants them: where a programmer would make one, the code asks Is, which is the
// constant false, so that the compiler drops what follows. In a build with the
// tag tidemark_mutants Is tells whether that mistake was chosen, by Plant or by
// the environment variable TIDEMARK_MISTAKE; make mutants shows that the checks
// of cluster-test find each.
//
// It imports nothing of the module and may be imported by all of it.
package planted

// Mistake is one of the constants below; its zero value is none. Each says what
// is done wrong, and where that was seen.
type Mistake uint8

// None is no mistake.
const None Mistake = 0

// What a commit, a set or an act does to the table.
const (
	_ Mistake = iota
	// FenceIgnored takes a commit under whatever epoch: an operator's reset is
	// undone by the consumer that missed it (RocketMQ's resetOffsetByTimestamp
	// with a consumer that goes on; Kafka has had generations since 0.9).
	FenceIgnored
	// ClusterIgnored takes a commit that was read from another cluster: after a
	// rebuild, old progress overwrites new (etcd compares cluster ids).
	ClusterIgnored
	// LastWriteWins lets a commit that comes late lower a newer one: a retry
	// overtakes (apache/rocketmq#1732, where a lower commit is only logged).
	LastWriteWins
	// EqualRaises takes a commit of the stored offset for a change of it.
	EqualRaises
	// ClaimIgnored takes commits of who was told that another has taken over
	// (ZooKeeper's and HDFS's zombies, which fencing tokens were made for).
	ClaimIgnored
	// AtomicInPart applies what it can of a set of commits that is to be done
	// together or not at all.
	AtomicInPart
	// SetKeepsEpoch moves an offset without the index that fences who read the
	// position before.
	SetKeepsEpoch
	// ActUnheard does an act without moving the index that tells everybody of it.
	ActUnheard
	// PendingClearedByAct lets a clone or an import clear the mark of a reset
	// that no consumer has followed yet.
	PendingClearedByAct
	// PendingKept leaves that mark when the consumer follows with a commit that
	// raises nothing.
	PendingKept
	// BaseIgnored lets an act change what a newer one has: it was issued by
	// somebody who had not seen that.
	BaseIgnored
	// ResendDoneAgain does an act once more whose answer was lost (section 6.3 of
	// the Raft thesis; jetcd 0.8.2 in Jepsen's analysis).
	ResendDoneAgain
	// FloorKept forgets a group with its offsets: a commit under way brings them
	// back (apache/rocketmq#1416 and those after it).
	FloorKept
	// ChunkTwice counts a chunk of an import twice that was sent twice, and so
	// never waits for the last.
	ChunkTwice
	// MergeLowers lets an import that merges overwrite newer offsets.
	MergeLowers
	// ReplaceInSteps takes the old keys away when a replace begins, and brings the
	// new ones when it ends (rqlite/rqlite#1016: a load in many steps).
	ReplaceInSteps
	// SwapOverAct swaps a replace in over an act that came while it was staged.
	SwapOverAct
	// ExpireMoved expires a group that has moved since it was listed.
	ExpireMoved
	// QuotaInApply refuses a key by what this member has counted itself, where
	// every member must decide alike.
	QuotaInApply
)

// How entries become the state, and the state a snapshot.
const (
	// ApplyByClock stamps positions with each member's own clock (rqlite's
	// statements with a time or a random number, before it rewrote them).
	ApplyByClock Mistake = iota + 64
	// ApplyByMapOrder applies what came together in the order of a Go map (the
	// non-determinism that stopped chains built on the Cosmos SDK).
	ApplyByMapOrder
	// EntrySkipped goes on behind an entry that it can't read.
	EntrySkipped
	// FloorsNotSaved leaves the floors out of a snapshot.
	FloorsNotSaved
	// ActsNotSaved leaves the remembered acts out of a snapshot: after a restart a
	// resend is done again (the session table of the Raft thesis, 6.3).
	ActsNotSaved
	// RestoreEmpty serves an empty state while a snapshot is restored.
	RestoreEmpty
)

// What is on a member's disk.
const (
	// NoSync leaves out every sync of log, term and vote (NATS JetStream in
	// Jepsen's analysis of 2.12.1; Kafka as shipped).
	NoSync Mistake = iota + 96
	// VoteForgotten does not note whom a vote was given to, so that it is given
	// twice (hashicorp/raft#661, where a crash does that).
	VoteForgotten
	// SuffixSliced deletes the end of the log in slices, lowest index first: a
	// crash leaves a gap, and behind it what was to be gone.
	SuffixSliced
	// SnapshotMissesLast names a snapshot for one entry more than it holds (etcd
	// 3.5.0 to 3.5.2, where the applied index ran ahead of the data).
	SnapshotMissesLast
	// TailDropped takes the last entry of the log for torn at each start.
	TailDropped
)

// When a member answers, and what.
const (
	// EarlyAck acknowledges commits when they are proposed (MongoDB's and Redis's
	// old defaults, in Jepsen's analyses).
	EarlyAck Mistake = iota + 128
	// ReadUnconfirmed answers a linearizable read because raft says that this
	// member leads (etcd 0.4 and Consul 0.5 in Jepsen's analysis;
	// hashicorp/consul#54, rqlite/rqlite#5).
	ReadUnconfirmed
	// LocalTooEarly reads locally before this member has caught up since its start.
	LocalTooEarly
	// FollowerReadsOld answers at a follower without waiting for the index that
	// the leader named.
	FollowerReadsOld
	// ReadIndexOfLog names the last command that the leader's log still has as the
	// index of a read: none, where all of them are in its snapshot (this project's
	// own, found by reading).
	ReadIndexOfLog
	// LeaderWithoutBarrier serves before this leader has applied what came before
	// its term (section 6.4 of the Raft thesis).
	LeaderWithoutBarrier
	// BehindElected lets a member be elected whose log is behind those of its
	// voters (what section 3.6.1 of the Raft thesis forbids; Kafka's unclean leader
	// election).
	BehindElected
	// DeadlineAsRefusal says "not done" of what may still be done.
	DeadlineAsRefusal
	// LostLeadershipAsRefusal says so of what was proposed by a leader that was
	// replaced, and sends it again.
	LostLeadershipAsRefusal
	// ForwardTwice sends a request on again whose answer was lost.
	ForwardTwice
	// CheckpointNotCompared notes digests and never looks at those of the others.
	CheckpointNotCompared
)

// What goes over the wire, and what a client makes of it.
const (
	// AnswersMixed gives answers to calls in the order of the calls, not by their
	// ids (redis/redis-py#2624).
	AnswersMixed Mistake = iota + 160
	// SharedAnswersMixed gives each caller of a shared request the answers to the
	// first (what a batching client does that counts answers from the start of the
	// batch, not of the caller).
	SharedAnswersMixed
	// EpochFromAnswer takes the epoch over from a fence, and commits on under it.
	EpochFromAnswer
	// NewestTakenForSent takes an acknowledgement for the value in memory, which
	// has gone on since the commit was sent.
	NewestTakenForSent
	// MinusOneStored makes "no offset" the number -1, and sends that
	// (redpanda-data/redpanda#5428; apache/rocketmq#2708).
	MinusOneStored
)
