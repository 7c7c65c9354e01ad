package node_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// TestTrapHeartbeatsBehindTheDisk: while the disks of both followers stall for
// longer than the lease, the leader hears nobody, and gives up. With the remedy
// it leads on, commits, and confirms reads while a write stalls.
func TestTrapHeartbeatsBehindTheDisk(t *testing.T) {
	show := func(t *testing.T, wait bool) (elections uint64) {
		synctest.Test(t, func(t *testing.T) {
			var stall atomic.Bool
			c := incluster.Start(t, 3, func(m *incluster.Member) {
				m.Config.Timers = node.LAN()
				m.Config.Unsafe.HeartbeatsWait = wait
				m.Config.Unsafe.Store.Fault = func(op store.Op) error {
					if op == store.OpAppend && stall.Load() {
						time.Sleep(700 * time.Millisecond) // the disk's time
					}
					return nil
				}
			})
			leader := c.Leader()
			quiet(c)
			k := incluster.Key("g", 1)
			before, meta := leader.Status().Term, leader.MustCommit(k, 1)
			stall.Store(true)
			for v := range int64(5) {
				leader.Commit(within(t, 5*time.Second), k, 2+v, 0, meta.Cluster) // without the remedy it may fail
				_, _, err := leader.Fetch(within(t, 200*time.Millisecond), k, linearizable)
				if err != nil && !wait {
					t.Errorf("a read while the disks stall: %v", err)
				}
			}
			stall.Store(false)
			elections = c.Leader().Status().Term - before
			c.Stop()
		})
		return elections
	}
	t.Run("fault", func(t *testing.T) {
		if show(t, true) == 0 {
			t.Error("the leader has kept the lead; the fault is gone, look whether the remedy is still needed")
		}
	})
	t.Run("remedy", func(t *testing.T) {
		if n := show(t, false); n != 0 {
			t.Errorf("%d elections, though only the disks stood still", n)
		}
	})
}

// TestOnlyWhatChangesNothingIsAnsweredBesideTheMainLoop: while a follower's main
// loop is held up by its disk, a heartbeat of its leader in its term is
// answered, and neither one of a newer term, nor one of an older, nor one of
// another member.
func TestOnlyWhatChangesNothingIsAnsweredBesideTheMainLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var holding atomic.Pointer[string]
		hold := make(chan struct{})
		c := incluster.Start(t, 3, patient, func(m *incluster.Member) {
			m.Config.Unsafe.Store.Fault = func(op store.Op) error {
				if who := holding.Load(); who != nil && *who == m.Name && op == store.OpAppend {
					<-hold
				}
				return nil
			}
		})
		leader := c.Leader()
		held, other := c.Followers(leader)[0], c.Followers(leader)[1]
		quiet(c)
		meta := leader.MustCommit(incluster.Key("g", 1), 1)
		term := leader.Status().Term
		holding.Store(&held.Name)
		leader.MustCommit(incluster.Key("g", 1), 2)
		leader.Kill()
		other.Kill()
		speakers := map[string]*peer.Peer{}
		for _, m := range []*incluster.Member{leader, other} {
			p, end := pretend(t, c, m.Name, m.ID(), meta.Cluster)
			defer end()
			speakers[m.Name] = p
			c.Until(held.Name+" has let go of "+m.Name, func() bool {
				conn, err := p.DialRaft(within(t, time.Second), held.ID(), held.Config.AdvertisePeer)
				if err == nil {
					conn.Close()
				}
				return err == nil
			})
		}
		for _, x := range []struct {
			name     string
			from     *incluster.Member
			term     uint64
			answered bool
		}{
			{"of the leader, in the term", leader, term, true},
			{"of a newer term", leader, term + 1, false},
			{"of an older term", leader, term - 1, false},
			{"of another member", other, term, false},
			{"of the leader, again", leader, term, true},
		} {
			if got := beats(t, speakers[x.from.Name], x.from, held, x.term); got != x.answered {
				t.Errorf("a heartbeat %s is answered: %v, want %v", x.name, got, x.answered)
			}
		}
		close(hold)
		c.Stop()
	})
}

// beats reports whether a heartbeat to a member is answered within a second.
func beats(t *testing.T, p *peer.Peer, from, to *incluster.Member, term uint64) bool {
	trans := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: dialOnly{p, to.ID(), make(chan struct{})}, MaxPool: 1, Timeout: time.Second, Logger: hclog.NewNullLogger(),
	})
	defer trans.Close()
	defer trans.CloseStreams()
	req := &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte(from.ID()), Addr: []byte(from.ID() + "@" + from.Config.AdvertisePeer)},
		Term:      term,
	}
	var resp raft.AppendEntriesResponse
	err := trans.AppendEntries(raft.ServerID(to.ID()), raft.ServerAddress(to.Config.AdvertisePeer), req, &resp)
	if err == nil && (!resp.Success || resp.Term != term) {
		t.Errorf("a heartbeat of term %d is answered with %v, term %d", term, resp.Success, resp.Term)
	}
	return err == nil
}
