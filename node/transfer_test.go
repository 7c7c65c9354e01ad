package node

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

func TestTransferWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stuck []time.Duration
		w := transferWatch{limit: time.Second, stuck: func(d time.Duration) { stuck = append(stuck, d) }}
		see := func(after time.Duration, err error) {
			time.Sleep(after) // virtual
			w.saw(err)
		}
		see(0, raft.ErrLeadershipTransferInProgress)
		see(900*time.Millisecond, raft.ErrLeadershipTransferInProgress)
		see(0, nil) // it came to its end
		see(900*time.Millisecond, raft.ErrLeadershipTransferInProgress)
		see(900*time.Millisecond, raft.ErrLeadershipTransferInProgress)
		see(0, errors.New("leadership lost"))
		see(900*time.Millisecond, raft.ErrLeadershipTransferInProgress)
		if len(stuck) != 0 {
			t.Fatalf("stuck after %v, though no transfer took longer than a second", stuck)
		}
		see(1100*time.Millisecond, raft.ErrLeadershipTransferInProgress)
		if len(stuck) != 1 || stuck[0] != 1100*time.Millisecond {
			t.Errorf("stuck after %v, want once after 1.1s", stuck)
		}
	})
}
