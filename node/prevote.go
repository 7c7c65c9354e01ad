package node

import "time"

// A refused pre-vote is asked for so many times in all, with such a pause between.
const (
	preVoteTries = 3
	preVotePause = 40 * time.Millisecond
)

// askAgain asks for a pre-vote, and again while it is refused. A member refuses
// while it remembers the leader, and forgets it some ten milliseconds after
// another has (see noticeSilence); the library counts the refusal, and asks again
// only after a whole election timeout. So if the one with the longer log looks
// first, and the other is refused for its shorter one, nobody leads for twice as
// long as needed.
//
// To raft this is a network that lost the first call and was slow with the
// second: granting a pre-vote changes nothing in the member that grants it, and
// all it permits is to ask for votes, which are given by the rules, by the logs
// of that moment.
func (t *transport) askAgain(ask func() error, refused func() bool) error {
	for try := 1; ; try++ {
		err := ask()
		if err != nil || !refused() || try == preVoteTries {
			return err
		}
		wait := time.NewTimer(preVotePause)
		select {
		case <-wait.C:
		case <-t.end:
			wait.Stop()
			return err
		}
	}
}
