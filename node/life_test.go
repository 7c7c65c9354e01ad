package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestCloseBeforeRun(t *testing.T) {
	c := incluster.New(t, 1)
	cfg := c.Members[0].Config
	l, err := c.Net.Host("n1").Listen(":7412")
	if err != nil {
		t.Fatal(err)
	}
	cfg.PeerListener = l
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Ready(); !errors.Is(err, offset.ErrNotReady) {
		t.Errorf("Ready before Run: %v", err)
	}
	if _, _, err := n.Commit(within(t, time.Second), incluster.Operator, wide(offset.ClusterID{1}, 1)); !errors.Is(err, offset.ErrNotReady) {
		t.Errorf("a commit before Run: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := n.Run(context.Background()); !errors.Is(err, offset.ErrClosed) {
		t.Errorf("Run after Close: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener is open after Close")
	}
}

// TestADiskThatFailsEndsTheMember with the exit code of the cause, and the
// others go on.
func TestADiskThatFailsEndsTheMember(t *testing.T) {
	var broken atomic.Pointer[string]
	c := incluster.Start(t, 3, func(m *incluster.Member) {
		m.Config.Unsafe.Store.Fault = func(op store.Op) error {
			if who := broken.Load(); who != nil && *who == m.Name && op == store.OpAppend {
				return fmt.Errorf("append: %w", syscall.ENOSPC)
			}
			return nil
		}
	})
	w := write(c, 2)
	w.more(10)
	leader := c.Leader()
	broken.Store(&leader.Name)
	err := leader.Wait()
	if node.ExitCode(err) != store.CauseDiskFull.ExitCode() {
		t.Errorf("Run returned %v, exit code %d; want that of a full disk, %d", err, node.ExitCode(err), store.CauseDiskFull.ExitCode())
	}
	w.more(10)
	broken.Store(nil)
	leader.Start()
	c.WaitReady(leader)
	w.check()
	equalDigests(c)
}

func TestAnApplyThatHangsEndsTheMember(t *testing.T) {
	node.QuickGuard(t)
	c := incluster.Start(t, 1)
	quiet(c)
	c.Until("the member ends", func() bool {
		node.HangApply(c.Members[0].Node()) // again: a member announces itself, which is an Apply
		return !c.Members[0].Running()
	})
	if err := c.Members[0].Wait(); node.ExitCode(err) != node.ExitHang {
		t.Errorf("Run returned %v, exit code %d; want %d", err, node.ExitCode(err), node.ExitHang)
	}
}

// TestAMemberRemovedWhileItWasDown learns of it when it comes back.
func TestAMemberRemovedWhileItWasDown(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	away := c.Followers(leader)[0]
	away.Stop()
	remove(c, leader, away.Name)
	away.Start()
	if err := away.Wait(); node.ExitCode(err) != node.ExitRemoved {
		t.Errorf("Run returned %v, exit code %d; want %d", err, node.ExitCode(err), node.ExitRemoved)
	}
	leader.MustCommit(incluster.Key("g", 1), 1)
}

// TestTheLeadersClockIsInformationOnly: it stamps positions, which never go
// back, and decides nothing.
func TestTheLeadersClockIsInformationOnly(t *testing.T) {
	var now atomic.Int64
	now.Store(5_000_000)
	c := incluster.Start(t, 3, func(m *incluster.Member) {
		m.Config.Clock = func() time.Time { return time.UnixMilli(now.Load()) }
	})
	m := c.Members[0]
	k := incluster.Key("g", 1)
	stamp := func() int64 {
		state, _, err := m.Fetch(within(t, incluster.Patience), k, linearizable)
		if err != nil {
			t.Fatal(err)
		}
		return state.Position.Time
	}
	m.MustCommit(k, 1)
	if got := stamp(); got != 5_000_000 {
		t.Errorf("stamped %d, want the clock's 5000000", got)
	}
	now.Store(1_000_000) // the clock jumps back
	m.MustCommit(k, 2)
	if got := stamp(); got != 5_000_000 {
		t.Errorf("stamped %d after a jump back, want no less than before", got)
	}
	now.Store(1 << 41)
	m.MustCommit(k, 3)
	if got := stamp(); got != 1<<41 {
		t.Errorf("stamped %d, want %d", got, int64(1)<<41)
	}
}

func TestListAndExport(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[1]
	for i := range 5 {
		m.Fill(fmt.Sprintf("g%d", i), 2500, int64(i))
	}
	page, err := m.Node().List(within(t, incluster.Patience), incluster.Operator, &offset.List{What: offset.ListGroups, Prefix: "g", Limit: 3})
	if err != nil || fmt.Sprint(page.Names) != "[g0 g1 g2]" || !page.More || page.Meta.Leader == "" {
		t.Errorf("the first page: %v, more %v, leader %q, %v", page.Names, page.More, page.Meta.Leader, err)
	}
	rows, pages := 0, 0
	var last offset.Key
	err = m.Node().Export(within(t, incluster.Patience), incluster.Operator, &offset.List{Group: "g3", Limit: 7}, func(p offset.Page) error {
		pages++
		for _, k := range p.Keys {
			if rows > 0 && last.Compare(k.Key) >= 0 {
				t.Fatalf("%v does not follow %v", k.Key, last)
			}
			last = k.Key
			rows++
		}
		return nil
	})
	if err != nil || rows != 2500 {
		t.Errorf("exported %d rows in %d pages, %v; want 2,500", rows, pages, err)
	}
	enough := errors.New("enough")
	err = m.Node().Export(within(t, incluster.Patience), incluster.Operator, &offset.List{}, func(offset.Page) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("the error of yield: %v", err)
	}
}

// TestACleanStopIsQuiet in a cluster of one, which nobody can take over.
func TestACleanStopIsQuiet(t *testing.T) {
	var out bytes.Buffer
	c := incluster.Start(t, 1, func(m *incluster.Member) {
		m.Config.Logger = hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info})
	})
	c.Leader().MustCommit(incluster.Key("g", 1), 1)
	if err := c.Members[0].Stop(); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.Contains(line, "[ERROR]") || strings.Contains(line, "handed over") {
			t.Error(line)
		}
	}
}

// TestAListingEndsWithItsCaller, also where no row has been found yet.
func TestAListingEndsWithItsCaller(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	groups := &offset.Commits{Cluster: m.Status().Meta.Cluster}
	for i := range 2000 {
		groups.Topics = append(groups.Topics, offset.TopicCommits{Group: fmt.Sprintf("g%04d", i), Topic: "t", Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	if _, _, err := m.Node().Commit(within(t, incluster.Patience), incluster.Operator, groups); err != nil {
		t.Fatal(err)
	}
	l := &offset.List{What: offset.ListKeys, At: local, Topic: "t", Pending: true}
	if page, err := m.Node().List(within(t, incluster.Patience), incluster.Operator, l); err != nil || len(page.Keys) != 0 {
		t.Errorf("%d rows, %v; want none", len(page.Keys), err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Node().List(gone, incluster.Operator, l); !errors.Is(err, context.Canceled) {
		t.Errorf("the listing of a caller who has gone: %v, want %v", err, context.Canceled)
	}
}
