package planted

import (
	"fmt"
	"slices"
)

// Variable is the environment variable that chooses a mistake by its name, for a
// process built with the tag tidemark_mutants.
const Variable = "TIDEMARK_MISTAKE"

// All lists the mistakes in the order of their constants.
func All() []Mistake {
	list := make([]Mistake, 0, len(names))
	for m := range names {
		list = append(list, m)
	}
	slices.Sort(list)
	return list
}

// ByName finds a mistake. The error lists what there is.
func ByName(name string) (Mistake, error) {
	for m, n := range names {
		if n == name {
			return m, nil
		}
	}
	var all []string
	for _, m := range All() {
		all = append(all, m.String())
	}
	return None, fmt.Errorf("no mistake is named %q; there are %q", name, all)
}

// String is the mistake's name.
func (m Mistake) String() string {
	if n, ok := names[m]; ok {
		return n
	}
	return "none"
}

// names are what the mistakes are chosen by.
var names = map[Mistake]string{
	FenceIgnored:            "fence-ignored",
	ClusterIgnored:          "cluster-ignored",
	LastWriteWins:           "last-write-wins",
	EqualRaises:             "equal-raises",
	ClaimIgnored:            "claim-ignored",
	AtomicInPart:            "atomic-in-part",
	SetKeepsEpoch:           "set-keeps-epoch",
	ActUnheard:              "act-unheard",
	PendingClearedByAct:     "pending-cleared-by-act",
	PendingKept:             "pending-kept",
	BaseIgnored:             "base-ignored",
	ResendDoneAgain:         "resend-done-again",
	FloorKept:               "floor-kept",
	ChunkTwice:              "chunk-twice",
	MergeLowers:             "merge-lowers",
	ReplaceInSteps:          "replace-in-steps",
	SwapOverAct:             "swap-over-act",
	ExpireMoved:             "expire-moved",
	QuotaInApply:            "quota-in-apply",
	ApplyByClock:            "apply-by-clock",
	ApplyByMapOrder:         "apply-by-map-order",
	EntrySkipped:            "entry-skipped",
	FloorsNotSaved:          "floors-not-saved",
	ActsNotSaved:            "acts-not-saved",
	RestoreEmpty:            "restore-empty",
	NoSync:                  "no-sync",
	VoteForgotten:           "vote-forgotten",
	SuffixSliced:            "suffix-sliced",
	SnapshotMissesLast:      "snapshot-misses-last",
	TailDropped:             "tail-dropped",
	EarlyAck:                "early-ack",
	ReadUnconfirmed:         "read-unconfirmed",
	LocalTooEarly:           "local-too-early",
	FollowerReadsOld:        "follower-reads-old",
	LeaderWithoutBarrier:    "leader-without-barrier",
	FastPathHeartbeats:      "fast-path-heartbeats",
	DeadlineAsRefusal:       "deadline-as-refusal",
	LostLeadershipAsRefusal: "lost-leadership-as-refusal",
	ForwardTwice:            "forward-twice",
	CheckpointNotCompared:   "checkpoint-not-compared",
	AnswersMixed:            "answers-mixed",
	EpochFromAnswer:         "epoch-from-answer",
	NewestTakenForSent:      "newest-taken-for-sent",
	MinusOneStored:          "minus-one-stored",
}
