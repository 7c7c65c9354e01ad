package node_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// addMember brings a started member into the cluster as a nonvoter.
func addMember(c *incluster.Cluster, through, m *incluster.Member) {
	c.TB.Helper()
	c.Until(m.Name+" has an id", func() bool { return m.Status().NodeID != "" })
	c.Until(m.Name+" is added", func() bool {
		_, err := through.Node().AddMember(within(c.TB, incluster.Patience), incluster.Operator, m.ID(), m.Config.AdvertisePeer)
		if err != nil && !unsettled(err) && !strings.Contains(err.Error(), "nobody answers") { // it has not begun to listen
			c.TB.Fatalf("adding %s: %v", m.Name, err)
		}
		return err == nil
	})
	c.WaitReady(m)
}

// promote makes the member id a voter.
func promote(c *incluster.Cluster, through *incluster.Member, id string) {
	c.TB.Helper()
	c.Until(id+" is promoted", func() bool {
		_, err := through.Node().PromoteMember(within(c.TB, incluster.Patience), incluster.Operator, id)
		if err != nil && !unsettled(err) {
			c.TB.Fatalf("promoting %s: %v", id, err)
		}
		return err == nil
	})
}

// remove takes the member id out of the cluster.
func remove(c *incluster.Cluster, through *incluster.Member, id string) {
	c.TB.Helper()
	open := false
	c.Until(id+" is removed", func() bool {
		_, err := through.Node().RemoveMember(within(c.TB, incluster.Patience), incluster.Operator, id)
		if open && errors.Is(err, offset.ErrNotFound) {
			return true // it was done before
		}
		if open = unsettled(err); err != nil && !open {
			c.TB.Fatalf("removing %s: %v", id, err)
		}
		return err == nil
	})
}

// unsettled reports whether a change of the members, or of who leads, has to be asked
// for again: another leader was elected meanwhile, or a busy machine was too slow for
// a transfer, which raft gives one election timeout.
func unsettled(err error) bool {
	return errors.Is(err, offset.ErrOutcomeUnknown) || errors.Is(err, offset.ErrBusy) || errors.Is(err, offset.ErrNoLeader)
}

// voters counts the voters that a member sees.
func voters(m *incluster.Member) (n int) {
	for _, s := range m.Status().Members {
		if s.Voter {
			n++
		}
	}
	return n
}

func TestAddPromoteRemove(t *testing.T) {
	c := incluster.Start(t, 3)
	w := write(c, 2)
	w.more(10)
	leader := c.Leader()
	k := incluster.Key("g", 1)
	leader.MustCommit(k, 7)

	added := c.Add()
	addMember(c, c.Followers(leader)[0], added)
	added.MustRead(k, local, 7)
	if n := voters(leader); n != 3 {
		t.Errorf("%d voters after adding a nonvoter, want 3", n)
	}
	w.more(10)
	promote(c, c.Members[0], added.Name)
	c.Until("there are four voters", func() bool { return voters(leader) == 4 })

	gone := c.Leader() // a leader hands over before it is removed
	remove(c, added, gone.ID())
	err := gone.Wait()
	if node.ExitCode(err) != node.ExitRemoved || !strings.Contains(err.Error(), "removed") {
		t.Errorf("the removed member's Run returned %v, exit code %d", err, node.ExitCode(err))
	}
	c.Until("what it announced is gone", func() bool {
		s := added.Status()
		return len(s.Members) == 3 && voters(added) == 3
	})
	w.more(10)
	w.check()
	equalDigests(c)
}

func TestMemberChangesAreRefused(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	other := c.Add()
	c.Until("the second has an id", func() bool { return other.Status().NodeID != "" })
	id := other.ID()
	cases := []struct {
		name string
		do   func() error
		want error
	}{
		{"an id without a name", func() error { return add(t, m, "abc", "n2:7412") }, offset.ErrInvalid},
		{"no port", func() error { return add(t, m, id, "n2") }, offset.ErrInvalid},
		{"a wildcard", func() error { return add(t, m, id, "0.0.0.0:7412") }, offset.ErrInvalid},
		{"nobody there", func() error { return add(t, m, id, "n9:7412") }, offset.ErrInvalid},
		{"somebody else there", func() error { return add(t, m, "n2/00112233445566778899aabbccddeeff", "n2:7412") }, offset.ErrInvalid},
		{"a name that is taken", func() error { return add(t, m, "n1/00112233445566778899aabbccddeeff", "n2:7412") }, offset.ErrInvalid},
		{"an address that is taken", func() error { return add(t, m, id, "n1:7412") }, offset.ErrInvalid},
		{"promoting nobody", func() error {
			_, err := m.Node().PromoteMember(within(t, time.Second), incluster.Operator, "n9")
			return err
		}, offset.ErrNotFound},
		{"removing the only voter", func() error {
			_, err := m.Node().RemoveMember(within(t, time.Second), incluster.Operator, "n1")
			return err
		}, offset.ErrInvalid},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			if err := k.do(); !errors.Is(err, k.want) {
				t.Errorf("got %v, want %v", err, k.want)
			}
		})
	}
	if n := len(m.Status().Members); n != 1 {
		t.Errorf("%d members after refused changes, want 1", n)
	}
}

func add(t *testing.T, through *incluster.Member, id, address string) error {
	_, err := through.Node().AddMember(within(t, 2*time.Second), incluster.Operator, id, address)
	return err
}

// TestAWipedMemberComesBackAsANewOne: with an empty folder it must not take
// its old place, since it has forgotten its votes and entries.
func TestAWipedMemberComesBackAsANewOne(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	k := incluster.Key("g", 1)
	leader.MustCommit(k, 1)
	wiped := c.Followers(leader)[0]
	old := wiped.ID()
	wiped.Stop()
	wiped.Wipe()
	wiped.Start()
	err := wiped.Wait()
	if err == nil || !strings.Contains(err.Error(), "cluster remove") || !strings.Contains(err.Error(), "cluster add") ||
		!strings.Contains(err.Error(), "start it without --initial-cluster") { // done below, and added while it runs
		t.Fatalf("the wiped member's Run returned %v, want what brings it in", err)
	}
	remove(c, leader, old)
	wiped.Config.InitialCluster = nil
	wiped.Start()
	addMember(c, leader, wiped)
	if wiped.ID() == old {
		t.Error("the wiped member has its old id")
	}
	wiped.MustRead(k, local, 1)
	promote(c, leader, wiped.ID())
	leader.MustCommit(k, 2)
	wiped.MustRead(k, linearizable, 2)
}

// TestAWipedMemberThatIsStartedAgainAndAgain, as a service manager does, with
// the options of a founder: the two commands that its log names bring it in.
func TestAWipedMemberThatIsStartedAgainAndAgain(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	k := incluster.Key("g", 1)
	leader.MustCommit(k, 1)
	wiped := c.Followers(leader)[0]
	old := wiped.ID()
	wiped.Stop()
	wiped.Wipe()
	wiped.Start()
	c.Until("the wiped member has an id", func() bool { return wiped.ID() != "" })
	id := wiped.ID()
	if err := wiped.Wait(); err == nil || !strings.Contains(err.Error(), "tidemark cluster add "+id) {
		t.Fatalf("the wiped member's Run returned %v, want what brings it in", err)
	}
	remove(c, leader, old)
	added := make(chan error, 1)
	go func() { // while it does not run
		_, err := leader.Node().AddMember(within(t, incluster.Patience), incluster.Operator, id, wiped.Config.AdvertisePeer)
		added <- err
	}()
	select {
	case err := <-added:
		t.Fatalf("the command has not waited for the member: %v", err)
	case <-time.After(200 * time.Millisecond): // that the service manager takes
	}
	wiped.Start()
	if err := <-added; unsettled(err) {
		addMember(c, leader, wiped)
	} else if err != nil {
		t.Fatal(err)
	}
	c.WaitReady(wiped)
	wiped.MustRead(k, local, 1)
}

// TestAnUnknownEntryLatchesAMember: whoever cannot read an entry stops, says
// why, and changes nothing more.
func TestAnUnknownEntryLatchesAMember(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	m.MustCommit(incluster.Key("g", 1), 1)
	m.Stop()
	appendEntry(t, m, []byte("an entry of a kind that nobody knows"))
	m.Start()
	err := m.Wait()
	if node.ExitCode(err) != node.ExitLatched {
		t.Errorf("Run returned %v, exit code %d; want %d", err, node.ExitCode(err), node.ExitLatched)
	}
	if err := m.Node().Live(); err == nil {
		t.Error("a member that has latched is live")
	}
}

// appendEntry adds a command to the log of a stopped member.
func appendEntry(t *testing.T, m *incluster.Member, data []byte) {
	t.Helper()
	dir := filepath.Join(m.Dir, "raft")
	s, err := store.Open(store.Config{Dir: dir, MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Log().LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	var l raft.Log
	if err := s.Log().GetLog(last, &l); err != nil {
		t.Fatal(err)
	}
	if err := s.Log().StoreLog(&raft.Log{Index: last + 1, Term: l.Term, Type: raft.LogCommand, Data: data}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// wrongWhen gives a member a state that has gone wrong, as far as its digest
// tells, once the flag is set.
func wrongWhen(flag *atomic.Bool, name *atomic.Pointer[string]) incluster.Option {
	return func(m *incluster.Member) {
		m.Config.Checkpoints.Wait = time.Second
		m.Config.Unsafe.Digest = func(d offset.Digest) offset.Digest {
			if who := name.Load(); flag.Load() && (who == nil || *who == m.Name) {
				d[0] ^= m.Name[1]
			}
			return d
		}
	}
}

// TestALeaderWithAWrongDigestGoesIntoQuarantine, and the others go on.
func TestALeaderWithAWrongDigestGoesIntoQuarantine(t *testing.T) {
	var flag atomic.Bool
	var who atomic.Pointer[string]
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		leader := c.Leader()
		k := incluster.Key("g", 1)
		leader.MustCommit(k, 1)
		if _, d, err := leader.Node().Checkpoint(within(t, incluster.Patience)); err != nil || d == (offset.Digest{}) {
			t.Fatalf("checkpoint: %v, %v", d, err)
		}
		for _, m := range c.Members {
			c.Until(m.Name+" agrees", func() bool { return metric(m, "checkpoints_agreed_total") > 0 })
		}
		who.Store(&leader.Name)
		flag.Store(true)
		index, _, err := leader.Node().Checkpoint(within(t, incluster.Patience))
		if err != nil {
			t.Fatal(err)
		}
		c.Until("the leader is under quarantine", func() bool {
			err := leader.Node().Ready()
			return err != nil && strings.Contains(err.Error(), "differs from the majority")
		})
		if !leader.Running() || leader.Status().State != "shutdown" {
			t.Errorf("the member under quarantine: running %v, state %s", leader.Running(), leader.Status().State)
		}
		_, _, err = leader.Fetch(within(t, time.Second), k, local)
		if !errors.Is(err, offset.ErrNotReady) {
			t.Errorf("a read from the member under quarantine: %v", err)
		}
		rest := c.Followers(leader)
		rest[0].MustCommit(k, 2)
		if n := len(rest[0].Status().Members); n != 3 {
			t.Errorf("the configuration has %d members, want 3: it stays in", n)
		}
		var mark struct {
			Checkpoint uint64 `json:"checkpoint"`
		}
		data, err := os.ReadFile(filepath.Join(leader.Dir, "quarantine.json"))
		if err != nil || json.Unmarshal(data, &mark) != nil || mark.Checkpoint != index {
			t.Errorf("the mark: %s, %v; want checkpoint %d", data, err, index)
		}
		// Started again it does no better: it must be seeded anew.
		leader.Stop()
		leader.Start()
		c.Until("it says so again", func() bool {
			err := leader.Node().Ready()
			return err != nil && strings.Contains(err.Error(), "empty data folder")
		})
	}, wrongWhen(&flag, &who))
}

// TestWithoutAMajorityNobodyStops: three states that all differ.
func TestWithoutAMajorityNobodyStops(t *testing.T) {
	var flag atomic.Bool
	var nobody atomic.Pointer[string]
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		leader := c.Leader()
		flag.Store(true)
		if _, _, err := leader.Node().Checkpoint(within(t, incluster.Patience)); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			c.Until(m.Name+" raises the alarm", func() bool { return metric(m, "digest_alarm") == 1 })
			if err := m.Node().Ready(); err != nil {
				t.Errorf("%s does not serve: %v", m.Name, err)
			}
		}
		leader.MustCommit(incluster.Key("g", 1), 1)
		before := metric(leader, "log_bytes")
		if _, _, _, err := leader.Node().Snapshot(within(t, incluster.Patience), incluster.Operator); err != nil {
			t.Fatal(err)
		}
		if after := metric(leader, "log_bytes"); after < before {
			t.Errorf("the log was cut from %.0f to %.0f bytes though states differ", before, after)
		}
		flag.Store(false)
		if _, _, err := leader.Node().Checkpoint(within(t, incluster.Patience)); err != nil {
			t.Fatal(err)
		}
		c.Until("the alarm ends", func() bool { return metric(leader, "digest_alarm") == 0 })
	}, wrongWhen(&flag, &nobody), func(m *incluster.Member) { m.Config.Snapshots.TrailingBytes = 1 })
}

// TestARemovalThatWouldEndTheClusterIsRefused: with one of three voters down,
// taking another out would leave two, of which one answers.
func TestARemovalThatWouldEndTheClusterIsRefused(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	rest := c.Followers(leader)
	up, down := rest[0], rest[1]
	upID, downID := up.ID(), down.ID()
	down.Kill()
	for _, who := range []string{upID, leader.ID()} {
		_, err := up.Node().RemoveMember(within(t, incluster.Patience), incluster.Operator, who)
		if !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), downID) {
			t.Errorf("removing %s: %v; want %v that names %s", who, err, offset.ErrDenied, downID)
		}
	}
	leader.MustCommit(incluster.Key("g", 1), 1)
	if n := voters(leader); n != 3 || c.Leader() != leader {
		t.Errorf("%d voters after refused removals, want 3 and the same leader", n)
	}
	remove(c, up, downID)
	c.Until("there are two voters", func() bool { return voters(leader) == 2 })
	leader.MustCommit(incluster.Key("g", 1), 2)
}

// TestNothingIsKeptForARemovedMember that was down: what raft runs for it ends.
func TestNothingIsKeptForARemovedMember(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	gone := c.Followers(leader)[0]
	id := gone.ID()
	gone.Kill()
	held := func() bool {
		stacks := make([]byte, 4<<20)
		return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*transport).hold(")
	}
	c.Until("an append to the dead member is held", func() bool {
		leader.MustCommit(incluster.Key("g", 1), 1)
		return held()
	})
	remove(c, leader, id)
	c.Until("nothing is held for a removed member", func() bool { return !held() })
}

// TestAPromotionEndsWithTheLeadership of the member that waits for the nonvoter.
func TestAPromotionEndsWithTheLeadership(t *testing.T) {
	c := incluster.Start(t, 3)
	fresh := c.Add()
	leader := c.Leader()
	addMember(c, leader, fresh)
	id := fresh.ID()
	fresh.Kill()
	leader.MustCommit(incluster.Key("g", 1), 1)
	promoted := make(chan error, 1)
	ctx := within(t, incluster.Patience)
	go func() {
		_, err := leader.Node().PromoteMember(ctx, incluster.Operator, id)
		promoted <- err
	}()
	c.Net.Isolate(leader.Host)
	if err := <-promoted; !errors.Is(err, offset.ErrNoLeader) || ctx.Err() != nil {
		t.Errorf("promoting at a leader that was cut off: %v (%v)", err, ctx.Err())
	}
}
