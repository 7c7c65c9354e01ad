package planted

import "fmt"

// Variable is the environment variable that chooses a mistake by its name, for a
// process built with the tag tidemark_mutants.
const Variable = "TIDEMARK_MISTAKE"

// All lists the mistakes in the order of their constants.
func All() (list []Mistake) {
	for m := range Mistake(255) {
		if m.String() != noName {
			list = append(list, m)
		}
	}
	return list
}

// ByName finds a mistake. The error lists what there is.
func ByName(name string) (Mistake, error) {
	for _, m := range All() {
		if m.String() == name {
			return m, nil
		}
	}
	return None, fmt.Errorf("no mistake is named %q; there are: %v", name, All())
}

// noName is the name of what is no mistake.
const noName = "none"

// String is the name that a mistake is chosen by. It is no table, which would be
// in every binary.
func (m Mistake) String() string {
	switch m {
	case FenceIgnored:
		return "fence-ignored"
	case ClusterIgnored:
		return "cluster-ignored"
	case LastWriteWins:
		return "last-write-wins"
	case EqualRaises:
		return "equal-raises"
	case ClaimIgnored:
		return "claim-ignored"
	case AtomicInPart:
		return "atomic-in-part"
	case SetKeepsEpoch:
		return "set-keeps-epoch"
	case ActUnheard:
		return "act-unheard"
	case PendingClearedByAct:
		return "pending-cleared-by-act"
	case PendingKept:
		return "pending-kept"
	case BaseIgnored:
		return "base-ignored"
	case ResendDoneAgain:
		return "resend-done-again"
	case FloorKept:
		return "floor-kept"
	case ChunkTwice:
		return "chunk-twice"
	case MergeLowers:
		return "merge-lowers"
	case ReplaceInSteps:
		return "replace-in-steps"
	case SwapOverAct:
		return "swap-over-act"
	case ExpireMoved:
		return "expire-moved"
	case QuotaInApply:
		return "quota-in-apply"
	case ApplyByClock:
		return "apply-by-clock"
	case ApplyByMapOrder:
		return "apply-by-map-order"
	case EntrySkipped:
		return "entry-skipped"
	case FloorsNotSaved:
		return "floors-not-saved"
	case ActsNotSaved:
		return "acts-not-saved"
	case RestoreEmpty:
		return "restore-empty"
	case NoSync:
		return "no-sync"
	case VoteForgotten:
		return "vote-forgotten"
	case SuffixSliced:
		return "suffix-sliced"
	case SnapshotMissesLast:
		return "snapshot-misses-last"
	case TailDropped:
		return "tail-dropped"
	case EarlyAck:
		return "early-ack"
	case ReadUnconfirmed:
		return "read-unconfirmed"
	case LocalTooEarly:
		return "local-too-early"
	case FollowerReadsOld:
		return "follower-reads-old"
	case ReadIndexOfLog:
		return "read-index-of-log"
	case LeaderWithoutBarrier:
		return "leader-without-barrier"
	case BehindElected:
		return "behind-elected"
	case DeadlineAsRefusal:
		return "deadline-as-refusal"
	case LostLeadershipAsRefusal:
		return "lost-leadership-as-refusal"
	case ForwardTwice:
		return "forward-twice"
	case CheckpointNotCompared:
		return "checkpoint-not-compared"
	case AnswersMixed:
		return "answers-mixed"
	case SharedAnswersMixed:
		return "shared-answers-mixed"
	case EpochFromAnswer:
		return "epoch-from-answer"
	case NewestTakenForSent:
		return "newest-taken-for-sent"
	case MinusOneStored:
		return "minus-one-stored"
	}
	return noName
}
