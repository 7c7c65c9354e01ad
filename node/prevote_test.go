package node

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A refused pre-vote is asked for again, a granted or failed one is not, and
// the end of the transport ends the wait.
func TestARefusedPreVoteIsAskedForAgain(t *testing.T) {
	failed := errors.New("no answer")
	for _, x := range []struct {
		name  string
		after int // how often it is refused before it is granted
		err   error
		asked int
		took  time.Duration
	}{
		{"granted at once", 0, nil, 1, 0},
		{"granted the second time", 1, nil, 2, preVotePause},
		{"refused for good", 9, nil, preVoteTries, (preVoteTries - 1) * preVotePause},
		{"not answered", 9, failed, 1, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr, asked, began := &transport{end: make(chan struct{})}, 0, time.Now()
				err := tr.askAgain(func() error { asked++; return x.err }, func() bool { return asked <= x.after })
				if took := time.Since(began); !errors.Is(err, x.err) || asked != x.asked || took != x.took {
					t.Errorf("asked %d times in %v, error %v", asked, took, err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		tr, asked, began := &transport{end: make(chan struct{})}, 0, time.Now()
		close(tr.end)
		if tr.askAgain(func() error { asked++; return nil }, func() bool { return true }); asked != 1 || time.Since(began) != 0 {
			t.Errorf("asked %d times while closing, in %v", asked, time.Since(began))
		}
	})
}
