package offset

import "time"

// Status is how one node sees itself and its cluster.
type Status struct {
	Meta Meta
	// NodeID is raft's server id of the answering node, "name/member-id".
	NodeID string
	// State is "leader", "follower", "candidate", "shutdown" or "starting".
	State string
	Term  uint64
	// CommitIndex and LastIndex are raft's; SnapshotIndex is that of the newest snapshot.
	CommitIndex, LastIndex, SnapshotIndex uint64
	// Level is the format level in use, MaxLevel the highest this build reads.
	Level, MaxLevel uint8
	// Digest is the state's at DigestIndex, the last command applied.
	Digest      Digest
	DigestIndex uint64
	// Groups and Queues count what the table holds.
	Groups, Queues uint64
	// NotReady says why the node does not serve; empty if it does.
	NotReady string
	Members  []MemberStatus
	// Import is the import under way; nil if there is none.
	Import *ImportStatus
	// Version is that of the answering build.
	Version string
	// Vitals is the state of the answering node itself.
	Vitals Vitals
}

// Vitals is the state of a node itself, apart from its part in the cluster. All is
// zero from a build that does not report it.
type Vitals struct {
	// Clock is the node's clock when it answered, in Unix milliseconds. No
	// decision rests on it; times in positions and in the audit log do.
	Clock int64
	// Lease is how long it leads without hearing a quorum. It comes from its
	// timers, which are to be the same on all members.
	Lease time.Duration
	// DiskFree and DiskTotal are bytes of the file system of its data folder;
	// both 0 where they are not known.
	DiskFree, DiskTotal uint64
	// DiskNeeded is how many bytes it may take until its next snapshot is
	// written: with less free, the disk may become full before. 0 where it is
	// not known.
	DiskNeeded uint64
	// DiskWrites counts the writes of log, term and vote since its start, each
	// with its sync; DiskTime is what they took together, DiskLongest the longest.
	DiskWrites            uint64
	DiskTime, DiskLongest time.Duration
	// Commits counts the commits that it decided as the leader since its start.
	Commits uint64
	// Entries counts the log entries that it proposed as the leader since its
	// start and that were applied; Stages is what they took together.
	Entries uint64
	Stages  Stages
}

// Stages part the time that a log entry takes on the leader, from when the first
// of its requests was taken in until all can be answered.
type Stages struct {
	// Queue is the wait until the entry was proposed.
	Queue time.Duration
	// Log is the time until it was on the leader's own disk, with the wait for
	// entries before it.
	Log time.Duration
	// Quorum is the time from there until a quorum had said that it is on theirs.
	Quorum time.Duration
	// Handover is the time from there until the state machine took it up, though
	// it was free: raft does that by the loop that writes the leader's log.
	Handover time.Duration
	// Apply is the time in the state machine, with the wait for what it was at.
	Apply time.Duration
}

// Total is the whole time.
func (s Stages) Total() time.Duration { return s.Queue + s.Log + s.Quorum + s.Handover + s.Apply }

// MemberStatus is what the answering node knows of one member.
type MemberStatus struct {
	Member
	// Peer is the address of its raft port.
	Peer string
	// Voter, and whether it leads.
	Voter, Leader bool
	// Match is the last index it is known to hold, ContactAge the time since
	// it was last heard of; both -1 where the answering node cannot know.
	Match      int64
	ContactAge time.Duration
}
