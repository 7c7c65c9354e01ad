package store

import (
	"errors"
	"testing"
)

var errCrash = errors.New("the process dies here")

// TestTornVote lets a voter die inside the storing of its vote for B in term 7,
// having voted for A in term 6. Started again it is asked by A in term 7, whose
// log lacks nearly everything. With the vote in two writes it takes A's for the
// vote it has given, and grants it without a look at the log.
func TestTornVote(t *testing.T) {
	for _, split := range []bool{true, false} {
		t.Run(map[bool]string{true: "split", false: "one write"}[split], func(t *testing.T) {
			var f fault
			dir := storeDir(t)
			cfg := Config{Dir: dir, Unsafe: Unsafe{SplitVote: split, Fault: f.hook}}
			s := open(t, cfg)
			bootstrapped(t, s)
			node := startFollower(t, s)
			if !node.ask(t, "A", 6, 50, 5) {
				t.Fatal("A's log is good, and it got no vote")
			}
			if split {
				f.failNth(OpSet, 2, errCrash)
			} else {
				f.failNth(OpVote, 1, errCrash)
			}
			if node.ask(t, "B", 7, 50, 5) {
				t.Fatal("a vote was given that could not be stored")
			}
			node.stop()

			f.set(func(Op) error { return nil })
			s = again(t, s, cfg)
			node = startFollower(t, s)
			granted := node.ask(t, "A", 7, 1, 1)
			if granted != split {
				t.Errorf("A, with one entry, was granted: %v", granted)
			}
			node.stop()
			must(t, s.Close())
			v, err := readVote(dir)
			want := storedVote{CurrentTerm: 7, Term: 6, Candidate: "A"}
			if split {
				want.Term = 7
			}
			if err != nil || v != want {
				t.Errorf("on disk: %+v, %v", v, err)
			}
		})
	}
}

// TestVoteIsOneWrite counts the writes of a vote, and finds it after a restart.
func TestVoteIsOneWrite(t *testing.T) {
	var f fault
	var ops []Op
	cfg := Config{Dir: storeDir(t), Unsafe: Unsafe{Fault: f.hook}}
	s := open(t, cfg)
	if _, err := s.Stable().GetUint64([]byte(keyLastVoteTerm)); err == nil || err.Error() != "not found" {
		t.Errorf("without a vote: %v", err)
	}
	bootstrapped(t, s)
	node := startFollower(t, s)
	f.set(func(op Op) error { ops = append(ops, op); return nil })
	if !node.ask(t, "B", 9, 50, 5) {
		t.Fatal("no vote")
	}
	node.stop()
	if len(ops) != 2 || ops[0] != OpTerm || ops[1] != OpVote {
		t.Errorf("a vote in a new term took %q", ops)
	}
	s = again(t, s, cfg)
	node = startFollower(t, s)
	if !node.ask(t, "B", 9, 1, 1) {
		t.Error("the same vote was not given again after a restart")
	}
	if node.ask(t, "A", 9, 90, 8) {
		t.Error("a second vote was given in one term")
	}
}

func TestCandidateWithoutTerm(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t)})
	if err := s.Stable().Set([]byte(keyLastVoteCand), []byte("A")); err == nil {
		t.Error("stored")
	}
}

func FuzzDecodeVote(f *testing.F) {
	f.Add(encodeVote(7, []byte("n1")))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		term, candidate, err := decodeVote(data)
		if err == nil && data[0] == voteVersion && string(encodeVote(term, candidate)) != string(data) {
			t.Errorf("%x read as %d, %q", data, term, candidate)
		}
	})
}
