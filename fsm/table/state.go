package table

import "github.com/tidemark-mq/tidemark/offset"

// Stamp is the index and the time that positions brought in by a replace share.
type Stamp struct {
	Index uint64
	// Time is Unix milliseconds.
	Time int64
}

// QueueState is one position as it is stored. Index 0 means that it was brought
// in by a replace and not changed since: its index, epoch and time are those of
// the newer of TopicState.Base and Rest.Base, and stored as 0.
type QueueState struct {
	QueueID int32
	Pending bool
	Offset  int64
	Index   uint64
	Epoch   uint64
	Time    int64
}

// TopicState is a run of queues of one group on one topic of one broker, as a
// snapshot holds it. Many queues come in several runs.
type TopicState struct {
	Group, Topic, Broker string
	// Staged: the run belongs to the import under way, not to the table.
	Staged bool
	// Base is that of the group on the broker; zero if no replace of the group
	// brought it in.
	Base Stamp
	// Queues are in ascending order of their ids, at least one.
	Queues []QueueState
}

// Floor is the floor of one group, or of one topic.
type Floor struct {
	// Topic: Name is a topic's; otherwise a group's.
	Topic bool
	Name  string
	Index uint64
	// Order distinguishes floors that moved in one entry: how many had before.
	Order uint32
}

// Claim is the newest claim of one scope.
type Claim struct {
	// ByBroker: Name is a broker's; otherwise a group's.
	ByBroker bool
	Name     string
	// Holder is its holder's name.
	Holder string
	// Index is the index of its entry.
	Index uint64
}

// ActRecord is what the state remembers of one act.
type ActRecord struct {
	ID offset.ActID
	// Content is a hash of what the act is to do: another act with its id is refused.
	Content [16]byte
	// First is the index of its first entry, Order how many acts began before it in
	// that entry.
	First uint64
	Order uint32
	// Result is its answer; until Result.Done it is under way.
	Result offset.ActResult
	// Cursor is where the next step of a cut act continues: after this key.
	Cursor offset.Key
	// Begun: Cursor holds a key.
	Begun bool
	// Item is how many groups of an expiry are done.
	Item uint32
	// Seen: an entry of the act has met a key of its scope.
	Seen bool
}

// Rest is all that a snapshot holds besides the runs of queues.
type Rest struct {
	Cluster offset.ClusterID
	// Index and Time are those of the last entry applied.
	Index uint64
	Time  int64
	// LastAct is the index of the last act of any kind.
	LastAct uint64
	// Evicted is the newest index of an act that was forgotten.
	Evicted uint64
	Level   uint8
	Later   Later
	// Base is that of the last replace of all.
	Base Stamp
	// FloorOfAll is the floor of every key.
	FloorOfAll uint64
	// Floors are those of scopes, in the order in which they moved.
	Floors []Floor
	// Claims in the order of ByBroker and Name.
	Claims []Claim
	// Acts in the order they began.
	Acts []ActRecord
	// Import is the one under way; nil if there is none.
	Import *offset.ImportStatus
	// Members in the order of their ids.
	Members []offset.Member
	// Queues and StagedQueues count the positions of the table and of the import.
	Queues, StagedQueues uint64
}
