package node_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// Each test here shows one trap of the library: with the remedy switched off
// by one option the fault appears, with it, it does not.

// patient are timers under which no lease ends while a test looks.
func patient(m *incluster.Member) {
	m.Config.Timers = node.Timers{Heartbeat: time.Second, Election: time.Second, Lease: time.Second, Commit: 15 * time.Millisecond}
}

// TestTrapHeartbeatBesideTheMainLoop: a heartbeat of a newer term, taken on
// the fast path just when an entry is handed over, has the old leader store
// that entry under a term that nobody has won.
func TestTrapHeartbeatBesideTheMainLoop(t *testing.T) {
	show := func(t *testing.T, fastPath bool) (foreign int) {
		var hook atomic.Pointer[func()]
		c := incluster.Start(t, 3, patient, func(m *incluster.Member) {
			m.Config.Unsafe.HeartbeatFastPath = fastPath
			m.Config.Clock = func() time.Time { // runs after the look at who leads, before raft has the entry
				if h := hook.Swap(nil); h != nil {
					(*h)()
				}
				return time.Now()
			}
		})
		leader := c.Leader()
		meta := leader.MustCommit(incluster.Key("g", 1), 1)
		pretender := c.Followers(leader)[0]
		id, term := pretender.ID(), leader.Status().Term+10
		pretender.Kill()
		p, end := pretend(t, c, pretender.Name, id, meta.Cluster)
		defer end()
		c.Until("the leader has let go of the one that was killed", func() bool {
			conn, err := p.DialRaft(within(t, time.Second), leader.ID(), leader.Config.AdvertisePeer)
			if err == nil {
				conn.Close()
			}
			return err == nil
		})
		beat := func() { heartbeat(t, p, pretender.Name, id, leader, term) }
		hook.Store(&beat)
		leader.Commit(within(t, time.Second), incluster.Key("g", 1), 2, 0, meta.Cluster)
		leader.Stop()
		err := store.ReadLog(filepath.Join(leader.Dir, "raft"), func(l *raft.Log) error {
			if l.Term == term {
				foreign++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return foreign
	}
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		// The main loop may wake up between the heartbeat and the entry, and
		// then sees in time that it leads no longer.
		for range 5 {
			if show(t, true) > 0 {
				return
			}
		}
		t.Error("no entry has the term that nobody won; the fault is gone, look whether the remedy is still needed")
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		if n := show(t, false); n != 0 {
			t.Errorf("%d entries have a term that nobody won", n)
		}
	})
}

// pretend runs the raft port of the member id, on its host, until end.
func pretend(t *testing.T, c *incluster.Cluster, host, id string, cluster offset.ClusterID) (p *peer.Peer, end func()) {
	l, err := c.Net.Host(host).Listen(":9")
	if err != nil {
		t.Fatal(err)
	}
	p, err = peer.New(peer.Config{
		Listener: l, Dial: c.Net.Host(host).Dial, ID: id, Handler: nobody{},
		Cluster: func() offset.ClusterID { return cluster },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	return p, func() { cancel(); running.Wait() }
}

// heartbeat sends the leader one of a later term, as if from the member id.
func heartbeat(t *testing.T, p *peer.Peer, host, id string, leader *incluster.Member, term uint64) {
	trans := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: dialOnly{p, leader.ID(), make(chan struct{})}, MaxPool: 1, Timeout: time.Second, Logger: hclog.NewNullLogger(),
	})
	defer trans.Close()
	defer trans.CloseStreams()
	req := &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte(id), Addr: []byte(id + "@" + host + ":7412")},
		Term:      term,
	}
	var resp raft.AppendEntriesResponse
	if err := trans.AppendEntries(raft.ServerID(leader.ID()), raft.ServerAddress(leader.Config.AdvertisePeer), req, &resp); err != nil {
		t.Error(err)
	}
}

// nobody answers no calls.
type nobody struct{ peer.Handler }

// dialOnly is a stream layer that reaches one member.
type dialOnly struct {
	peer *peer.Peer
	id   string
	end  chan struct{}
}

func (d dialOnly) Accept() (net.Conn, error) { <-d.end; return nil, net.ErrClosed }
func (d dialOnly) Close() error              { close(d.end); return nil }
func (d dialOnly) Addr() net.Addr            { return d.peer.Addr() }
func (d dialOnly) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.peer.DialRaft(ctx, d.id, string(addr))
}

// TestTrapVerifyLeaderCountsEarlierAnswers: what followers answered to calls
// sent before a read came does not show that this member leads now.
func TestTrapVerifyLeaderCountsEarlierAnswers(t *testing.T) {
	show := func(t *testing.T, library bool) error {
		c := incluster.Start(t, 3, patient, func(m *incluster.Member) { m.Config.Unsafe.LibraryVerify = library })
		leader := c.Leader()
		k := incluster.Key("g", 1)
		leader.MustCommit(k, 1)
		others := c.Followers(leader)
		others[1].Kill()
		// Answers are under way for half a second when the way there is cut.
		c.Net.Slow(others[0].Name, leader.Name, 500*time.Millisecond)
		time.Sleep(100 * time.Millisecond) // a heartbeat's round, not a condition
		c.Net.Cut(leader.Name, others[0].Name)
		_, _, err := leader.Fetch(within(t, time.Second), k, linearizable)
		return err
	}
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		if err := show(t, true); err != nil {
			t.Errorf("the read was refused (%v); the fault is gone, look whether the remedy is still needed", err)
		}
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		if err := show(t, false); err == nil {
			t.Error("a read was answered, though nothing sent after it came has reached another voter")
		}
	})
}

// TestTrapVerifyLeaderCountsNonvoters: members without a vote elect nobody, so
// their answers do not show that there is no newer leader.
func TestTrapVerifyLeaderCountsNonvoters(t *testing.T) {
	show := func(t *testing.T, library bool) error {
		option := func(m *incluster.Member) {
			patient(m)
			m.Config.Unsafe.LibraryVerify = library
		}
		c := incluster.Start(t, 3, option)
		leader := c.Leader()
		k := incluster.Key("g", 1)
		leader.MustCommit(k, 1)
		voters := c.Followers(leader)
		nonvoter := c.Add(option)
		addMember(c, leader, nonvoter)
		for _, v := range voters {
			c.Net.Cut(leader.Name, v.Name)
			c.Net.Cut(v.Name, leader.Name)
		}
		_, _, err := leader.Fetch(within(t, time.Second), k, linearizable)
		return err
	}
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		if err := show(t, true); err != nil {
			t.Errorf("the read was refused (%v); the fault is gone, look whether the remedy is still needed", err)
		}
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		if err := show(t, false); err == nil {
			t.Error("a read was answered by a leader that no other voter hears")
		}
	})
}

// TestTrapTransferNeverEnds: two transfers to a member that lags, and the loss
// of leadership between, leave raft in transfer: elected again, it leads and
// refuses everything.
func TestTrapTransferNeverEnds(t *testing.T) {
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		apart(t, "stuck=true", func() string {
			for range 6 { // the library's own races must go the wrong way, as they do in a third of the rounds
				var stuck atomic.Bool
				var rounds sync.WaitGroup
				for range 4 {
					rounds.Go(func() {
						if transferToLaggard(t, true) {
							stuck.Store(true)
						}
					})
				}
				if rounds.Wait(); stuck.Load() {
					return "stuck=true"
				}
			}
			return "stuck=false"
		})
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		for range 2 {
			if transferToLaggard(t, false) {
				t.Error("the leader is stuck in a transfer")
			}
		}
	})
}

// apart runs, in a process of its own, what leaves goroutines behind; its answer shall be want.
func apart(t *testing.T, want string, do func() string) {
	t.Helper()
	const child = "TIDEMARK_TEST_APART"
	if os.Getenv(child) == t.Name() {
		fmt.Printf("answer: %s\n", do())
		os.Exit(0)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	self := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	self.Env = append(os.Environ(), child+"="+t.Name(), "TMPDIR="+t.TempDir())
	out, err := self.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "answer: "+want+"\n") {
		t.Errorf("want %q; look whether the remedy is still needed; got\n%s", want, out)
	}
}

// transferToLaggard reports whether the leader, elected again, refuses commits.
func transferToLaggard(t *testing.T, raw bool) (stuck bool) {
	c := incluster.Start(t, 3, func(m *incluster.Member) { m.Config.Unsafe.RawTransfer = raw })
	defer c.Stop()
	old := c.Leader()
	k := incluster.Key("g", 1)
	old.MustCommit(k, 1)
	others := c.Followers(old)
	laggard, other := others[0], others[1]
	c.Net.Cut(old.Name, laggard.Name)
	c.Net.Cut(laggard.Name, old.Name)
	meta := old.MustCommit(k, 2)
	for range 2 {
		_, _, err := old.Node().Transfer(within(t, 700*time.Millisecond), incluster.Operator, laggard.ID())
		if err == nil {
			t.Fatal("leadership went to a member that is cut off")
		}
		if !raw && !errors.Is(err, offset.ErrBusy) && !errors.Is(err, offset.ErrDenied) {
			t.Errorf("the transfer to a member that lags: %v, want it refused", err)
		}
		old.Commit(within(t, 50*time.Millisecond), k, 2, 0, meta.Cluster)
	}
	c.Net.Cut(old.Name, other.Name)
	c.Net.Cut(other.Name, old.Name)
	// The first occupies replication, the second waits for it, a third finds no place to wait at.
	old.Node().Transfer(within(t, 700*time.Millisecond), incluster.Operator, laggard.ID())
	c.Until("the old leader has stepped down", func() bool { return old.Status().State != "leader" })
	time.Sleep(1500 * time.Millisecond) // calls under way run into their timeout
	c.Net.HealAll()
	c.Until("the old leader leads again", func() bool {
		if old.Status().State == "leader" {
			return true
		}
		other.Node().Transfer(within(t, 500*time.Millisecond), incluster.Operator, old.ID())
		return false
	})
	_, _, err := old.Commit(within(t, 2*time.Second), k, 3, 0, meta.Cluster)
	return err != nil
}

// TestTrapUnansweredFutures: raft answers no more once it is shut down, not
// even what it has taken. Without the remedy the callers wait for ever, and so
// does the end of the member; that run has a process of its own, to be left.
func TestTrapUnansweredFutures(t *testing.T) {
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		apart(t, "not all were told", func() string {
			for range 3 { // whether raft takes what waits, or its end, is drawn
				if toldAtTheEnd(t, true) < 4 {
					return "not all were told"
				}
			}
			return "all were told"
		})
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		if n := toldAtTheEnd(t, false); n != 4 {
			t.Errorf("%d of 4 callers were told", n)
		}
	})
}

// toldAtTheEnd stops a member whose disk is held up while four commits are
// under way, and counts the callers that are told something.
func toldAtTheEnd(t *testing.T, blind bool) (told int) {
	hold := make(chan struct{})
	var holding atomic.Bool
	c := incluster.Start(t, 1, func(m *incluster.Member) {
		m.Config.Unsafe.BlindFutures = blind
		m.Config.Unsafe.Store.Fault = func(op store.Op) error {
			if op == store.OpAppend && holding.Load() {
				<-hold
			}
			return nil
		}
	})
	m := c.Members[0]
	meta := m.MustCommit(incluster.Key("g", 0), 1)
	quiet(c)
	before := metric(m, "proposed_entries_total")
	holding.Store(true)
	answers := make(chan error, 4)
	for i, callers := range []int{1, 1, 2} { // so many as are in flight share an entry
		for q := range callers {
			go func() { // ends with its answer, or with the process
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				_, _, err := m.Commit(ctx, incluster.Key("g", int32(i+q)), 2, 0, meta.Cluster)
				answers <- err
			}()
		}
		c.Until("it is proposed", func() bool { return metric(m, "proposed_entries_total") >= before+1+float64(i) })
	}
	go m.Node().Close()
	c.Until("the member is stopping", func() bool { return m.Status().State == "shutdown" })
	holding.Store(false)
	close(hold)
	deadline := time.After(3 * time.Second)
	for range cap(answers) {
		select {
		case err := <-answers:
			if err != nil && !errors.Is(err, offset.ErrOutcomeUnknown) {
				t.Errorf("told %v, want the outcome or that it is unknown", err)
			}
			told++
		case <-deadline:
			return told
		}
	}
	return told
}

// quiet waits until all members have announced themselves and know it, after which
// they propose nothing of their own, and until no entry comes any more: who is late
// to know may have announced itself again.
func quiet(c *incluster.Cluster) {
	c.TB.Helper()
	c.Until("all know that they have announced themselves", func() bool {
		return !slices.ContainsFunc(c.Members, func(m *incluster.Member) bool { return apiOf(m, m.ID()) == "" })
	})
	last, since := uint64(0), time.Now()
	c.Until("no entry comes any more", func() bool {
		if now := c.Leader().Status().LastIndex; now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 200*time.Millisecond
	})
}

func metric(m *incluster.Member, name string) float64 {
	for _, v := range m.Node().Metrics() {
		if v.Name == name {
			return v.Value
		}
	}
	return -1
}

// TestTrapWaitingForTheCommitIndex: raft commits entries that no FSM ever sees,
// so a read that waits for "applied = commit index" waits for ever on a quiet log.
func TestTrapWaitingForTheCommitIndex(t *testing.T) {
	show := func(t *testing.T, wait bool) (err error) {
		virtually(t, func(t *testing.T, c *incluster.Cluster) {
			leader := c.Leader()
			k := incluster.Key("g", 1)
			leader.MustCommit(k, 1)
			quiet(c)
			next := c.Followers(leader)[0]
			c.HandOver(next) // the last entries of the log are now those of a new leader
			c.Until("everybody has the commit index", func() bool {
				for _, m := range c.Members {
					if m.Status().CommitIndex != next.Status().CommitIndex {
						return false
					}
				}
				return true
			})
			follower := c.Followers(next)[0]
			state, _, failed := follower.Fetch(within(t, time.Second), k, linearizable)
			if err = failed; err == nil && state.Position.Offset != 1 {
				t.Errorf("read %d, want 1", state.Position.Offset)
			}
		}, func(m *incluster.Member) { m.Config.Unsafe.WaitForCommitIndex = wait })
		return err
	}
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		if err := show(t, true); err == nil {
			t.Error("the read came back; the fault is gone, look whether the remedy is still needed")
		}
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		if err := show(t, false); err != nil {
			t.Errorf("the read of a follower: %v", err)
		}
	})
}

// TestTrapAppendsHaveNoByteBound: how many bytes one append to a follower that
// lags carries depends on the number of entries alone.
func TestTrapAppendsHaveNoByteBound(t *testing.T) {
	const bound = 4 << 20
	show := func(t *testing.T, library bool) (largest float64) {
		virtually(t, func(t *testing.T, c *incluster.Cluster) {
			leader := c.Leader()
			away := c.Followers(leader)[0]
			meta := leader.MustCommit(incluster.Key("g", 0), 1)
			away.Kill()
			for i := range 70 {
				leader.MustSend(wide(meta.Cluster, i))
			}
			away.Start()
			c.WaitReady(away)
			largest = metric(leader, "append_largest_bytes")
		}, patient, func(m *incluster.Member) { m.Config.Unsafe.LibraryAppends = library })
		return largest
	}
	t.Run("fault", func(t *testing.T) {
		t.Parallel()
		if n := show(t, true); n <= bound {
			t.Errorf("the largest append has %.0f bytes, within %d; the fault is gone, look whether the remedy is still needed", n, bound)
		}
	})
	t.Run("remedy", func(t *testing.T) {
		t.Parallel()
		if n := show(t, false); n > bound || n < 1<<20 {
			t.Errorf("the largest append has %.0f bytes; want 1 MiB to %d", n, bound)
		}
	})
}

// wide is a request of about 128 KiB.
func wide(cluster offset.ClusterID, i int) *offset.Commits {
	r := &offset.Commits{Cluster: cluster}
	for n := range 520 {
		name := fmt.Sprintf("%d-%d-%s", i, n, strings.Repeat("x", 235))
		r.Topics = append(r.Topics, offset.TopicCommits{Group: "wide", Topic: name, Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	return r
}
