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
}

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
