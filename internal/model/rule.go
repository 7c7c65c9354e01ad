package main

// Rule selects the variant of the rule of writing that is checked. The zero
// value is NOT the repaired rule; see AsWritten and Repaired.
type Rule struct {
	// The store.
	ScopedFloor    int  // 0: one floor for the whole table; n: the last n removed scopes keep floors of their own
	SetAbsentZero  bool // a Set of an absent key compares with "no index" instead of the key's floor
	SetKnown       int  // what else a consumer's Set compares: 0 nothing, 1 the epoch, 2 and the offset, 3 and the cluster; 4: these, and not the index
	SetEpochCAS    bool // (option) a Set compares with the epoch instead of the index
	ActCheck       int  // what an act does to a key whose epoch is newer than the act's base: 0 overwrites, 1 leaves it alone, 2 is refused whole
	WindowBase     bool // an unknown id with a base older than the newest forgotten id is refused
	RecordFailures bool // the window keeps failed results too
	ImportGuard    bool // an import id is an act id; only its first entry starts an import
	ClusterID      bool // a commit carries the cluster its epoch was read from
	PinUnderway    bool // the window never forgets an act or import that is under way
	// The clients.
	Silent int // after a fence, a re-read without offset goes on silently if: 0 never, 1 the read before had none either, 2 and nothing of ours can have been written since
	// What a client may say depends on whether it had sent before (P4).
	ClaimCommit bool // a fenced commit
	ClaimSet    bool // a fenced Set
	ClaimAct    bool // an act refused because it was issued before the window
	// A consumer's own Set, and acts noticed.
	SetMoved      bool // a Set fenced under its own epoch claims no missed act, but that it was not and will not be done
	AckPosition   int  // an acknowledged commit gives: 0 its entry's index, 1 the position's index, 2 and the position's offset
	NoticeCluster bool // the query for newer epochs names the cluster
	// Pending positions and claims.
	ClaimBase    bool // a claim is refused if a scope that overlaps its own was claimed after its base
	ClaimStops   bool // reads name the newest claim; a holder who sees one newer than its own stops
	ClaimCluster bool // ... or another cluster; a claim carries the cluster of its base
	ClaimAlone   bool // a claim shares its entry with nothing
	ActClaim     bool // an act that came through an instance carries its claim, and is refused if a key of its scope has a newer one
	ClaimIndex   bool // the answer to a claim gives the index of its own entry, also to a resend
	PendKept     bool // an act that writes a position otherwise leaves its mark as it is
	// Planted errors of brokers with consumers behind them.
	FollowAny        bool // any value of the taker from the assigned one on shows that it has followed, its pull's own commit too
	FollowOther      bool // the value assigned, from whichever consumer, shows that it has been followed
	OpenMaster       bool // a master believes everybody
	OpenAll          bool // who has read or followed opens the key for all
	Restamp          bool // a value that waits gets the new epoch when the key is read
	FenceAdopts      bool // a fenced value is sent again with the epoch in the answer
	NotClosed        bool // a moved key is taken over and not closed
	PendingOpen      bool // pending keys are not closed at a start or promotion
	KeepsValue       bool // of a moved key the higher offset stays
	MovedByClaim     bool // a claim closes keys
	CreatedCloses    bool // a key created under a new claim is taken for moved
	CreatedStays     bool // ... is not, though it was there before
	ForeignOpen      bool // keys of another cluster are taken over and not closed
	PromoteKeeps     bool // a value that waits at a promotion is kept
	PromoteOpens     bool // a start or promotion opens what is closed
	MarkGoesOn       bool // the file's mark passes acts that nobody has followed
	OldMasterFollows bool // an old master takes over the claim's epoch
	LateReads        bool // a slave's late read opens the key, though it has followed further
	Overtaking       bool // values of one consumer overtake one another on their way to a broker
	PullOvertakes    bool // a pull takes a reset before what its consumer sent earlier has been taken
	Forgetful        bool // a slave opens a closed key once it is pending no more
	ActSeesClaim     bool // (option) an act leaves alone what was claimed after its base
	// Planted errors.
	AdoptFromAnswer bool // a fenced client goes on with the epoch in the answer
	AnyReadAdopts   bool // a read for display takes over the epoch, progress kept
	LazyRead        bool // the read before the first commit happens at commit time, not before the first message
	TopicCounter    bool // the epoch is a counter of the topic
	SetNoCAS        bool
	NoActIDs        bool
	FloorStays      bool // removal doesn't move the floor
	NoopSetKeeps    bool // an act that changes no offset leaves index and epoch alone
	CreateOwnIndex  bool // a key created by a commit takes that entry's index as epoch
	CloneKeepsEpoch bool // clone leaves the epoch of the destination alone
	ExpireNoGuard   bool // expire ignores the listed index
	ExpireFloor     bool // expire doesn't move the floor
	FileIndexes     bool // replace keeps the positions' indexes of the backup
	PartFloorLast   bool // a cut removal moves the floor with its last entry only
	PartFloorFirst  bool // ... with its first entry only
	MergeNoCheck    bool // merge ignores newer acts although ActCheck is on
	SnapOmit        string
	GreaterEpoch    bool // fenced only if older
	OwnKeepsOld     bool // the old epoch is kept after an own Set
	OwnReadsEpoch   bool // the epoch after an own Set is read, not the entry's index
	AdoptUnknown    bool // the key's epoch is taken over though the outcome of an own Set is unknown
	SetRebased      bool // a fenced Set is sent again on the position in the answer
	SetKeepsEpoch   bool // a Set leaves the epoch of the key alone
	NoticeIgnored   bool
	PendCleared     bool // a claim clears the mark
	PendNoRaise     bool // only a commit that raises clears the mark
	PendSetByAll    bool // any act sets the mark (an own Set too)
	TakesAtOnce     bool // a broker takes over the epoch of a pending key at once
	ClaimAbsent     bool // the claim is not looked at for keys that do not exist
	ClaimOne        bool // only the latest claim is kept
	ClaimByRemoval  bool // what moves a floor forgets the claims of its scope
	ReadOld         bool // a read names the asker's own claim instead of the newest
	ReadNoClaim     bool // a read answers the key's own epoch, without claims
	CommitNoClaim   bool // a commit is compared with the key's own epoch
	TakesEpochOnly  bool // after a fence or notice the epoch is taken over, the value kept
}

// AsWritten is the rule as it was first written, read to the letter; where it
// said nothing, the most literal reading.
func AsWritten() Rule {
	return Rule{WindowBase: true, RecordFailures: true, Silent: 1, ImportGuard: true, PinUnderway: true}
}

// Repaired is the rule this model proposes.
func Repaired() Rule {
	return Rule{ScopedFloor: 3, ActCheck: 1, WindowBase: true, RecordFailures: true, ImportGuard: true,
		ClusterID: true, PinUnderway: true, Silent: 0, ClaimCommit: true, ClaimSet: true, ClaimAct: true,
		SetKnown: 4, SetMoved: true, AckPosition: 2, NoticeCluster: true,
		ClaimBase: true, ClaimStops: true, ClaimAlone: true, ClaimCluster: true, ActClaim: true, ClaimIndex: true, PendKept: true}
}

// Stated is Repaired with the first wording on a consumer's own Set and on
// notices, read to the letter.
func Stated() Rule {
	r := Repaired()
	r.SetKnown, r.SetMoved, r.AckPosition, r.NoticeCluster = 0, false, 1, false
	return r
}

// Minimal keeps the single floor of the page and only narrows the silence.
func Minimal() Rule {
	r := Repaired()
	r.ScopedFloor, r.Silent = 0, 2
	return r
}
