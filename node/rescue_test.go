package node_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// rescue is what the tests make of remains.
func rescue(dir string) node.Rescue {
	return node.Rescue{Dir: dir, Name: "n1", LogStore: store.LogBoltDB, Time: time.Now(), By: auth.Principal{Name: "ops"}}
}

// files are the names and contents of all files below a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameFiles(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := files(t, dir)
	for path, content := range before {
		if after[path] != content {
			t.Errorf("%s has changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there are %d files in %s, and were %d", len(after), dir, len(before))
	}
}

// TestRescue: two of three are lost, and what the third has, a snapshot and a log
// behind it, becomes a cluster of one that grows to three. Its folder stays as it
// is, and whoever still speaks for the old cluster is refused.
func TestRescue(t *testing.T) {
	c := incluster.Start(t, 3)
	k, set := incluster.Key("g", 1), incluster.Key("g", 2)
	m := c.Members[1]
	m.MustCommit(k, 50)
	m.MustCommit(set, 9)
	if _, _, _, err := m.Node().Snapshot(t.Context(), incluster.Operator); err != nil {
		t.Fatal(err)
	}
	m.MustAct(&offset.Act{Reset: &offset.Reset{Targets: []offset.Target{{Key: set, Offset: 4}}}})
	m.MustCommit(k, 70)
	before, meta, err := m.Fetch(t.Context(), k, linearizable)
	if err != nil {
		t.Fatal(err)
	}
	c.Stop()
	had := files(t, m.Dir)

	left, err := node.ReadRemains(t.Context(), m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if left.Member != m.ID() || left.Root.Cluster() != meta.Cluster || left.Root.Get(k).Position.Offset != 70 || left.Index < meta.Index || left.Term == 0 || len(left.Members) != 3 {
		t.Errorf("what is left: %+v, at index %d", left, left.Root.Index())
	}
	dir := filepath.Join(t.TempDir(), "data")
	made, err := left.Found(t.Context(), rescue(dir))
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, m.Dir, had)
	if made.Root.Index() != left.Index+1 {
		t.Errorf("the new cluster begins at %d, behind %d", made.Root.Index(), left.Index)
	}

	n := incluster.New(t, 1)
	first := n.Members[0]
	first.Dir, first.Config.Dir, first.Config.InitialCluster = dir, dir, nil
	first.Start()
	n.WaitReady(first)
	first.MustRead(k, linearizable, 70)
	if s, meta, err := first.Fetch(t.Context(), set, linearizable); err != nil || s.Position.Offset != 4 || !s.Position.Pending || meta.Cluster != made.Root.Cluster() || first.ID() != made.Member {
		t.Errorf("%+v of %s at %s, %v", s, meta.Cluster, first.ID(), err)
	}
	v, _, err := first.Commit(t.Context(), k, 99, before.Epoch, meta.Cluster)
	if err != nil || v.Code != offset.CodeFenced {
		t.Errorf("a commit for the old cluster: %v, %v", v.Code, err)
	}
	for range 2 {
		added := n.Add()
		addMember(n, n.Leader(), added)
		promote(n, n.Leader(), added.ID())
		n.WaitReady(added)
	}
	n.Leader().Kill()
	n.Leader().MustCommit(k, 71)
	line, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil || !strings.Contains(string(line), `"what":"rescue"`) || !strings.Contains(string(line), m.ID()) || !strings.Contains(string(line), `"principal":"ops"`) {
		t.Errorf("the audit log says %s, %v", line, err)
	}
}

// TestTheFolderThatLacksTheLeast: of the members that are left, the one whose last
// entry has the higher term, then the higher index, has what the other lacks.
func TestTheFolderThatLacksTheLeast(t *testing.T) {
	c := incluster.Start(t, 3)
	k := incluster.Key("g", 1)
	c.Leader().MustCommit(k, 1)
	behind := c.Followers(c.Leader())[0]
	c.Until("the first follower has it", func() bool {
		s, _, err := behind.Fetch(t.Context(), k, local)
		return err == nil && s.Position.Offset == 1
	})
	behind.Kill()
	c.Leader().MustCommit(k, 2)
	ahead := c.Followers(c.Leader())[0]
	c.Until("the other follower has it", func() bool {
		s, _, err := ahead.Fetch(t.Context(), k, linearizable)
		return err == nil && s.Position.Offset == 2
	})
	c.Stop()
	var left []*node.Remains
	for _, m := range []*incluster.Member{behind, ahead} {
		r, err := node.ReadRemains(t.Context(), m.Dir)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, r)
	}
	less, more := left[0], left[1]
	if less.Root.Get(k).Position.Offset != 1 || more.Root.Get(k).Position.Offset != 2 {
		t.Fatalf("the folders have %+v and %+v", less.Root.Get(k), more.Root.Get(k))
	}
	if more.Term < less.Term || more.Term == less.Term && more.Index <= less.Index {
		t.Errorf("the folder that has more ends at term %d, index %d; the other at term %d, index %d", more.Term, more.Index, less.Term, less.Index)
	}
}

// TestRescueFromSegments: entries are taken out of segments as well, and the log
// store is kept.
func TestRescueFromSegments(t *testing.T) {
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.LogStore = store.LogWAL })
	c.Members[0].MustCommit(incluster.Key("g", 1), 5)
	c.Stop()
	left, err := node.ReadRemains(t.Context(), c.Members[0].Dir)
	if err != nil || left.LogStore != store.LogWAL {
		t.Fatalf("%+v, %v", left, err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	r := rescue(dir)
	r.LogStore = left.LogStore
	if _, err := left.Found(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	n := incluster.New(t, 1, func(m *incluster.Member) {
		m.Dir, m.Config.Dir, m.Config.InitialCluster, m.Config.LogStore = dir, dir, nil, store.LogWAL
	})
	n.Members[0].Start()
	n.WaitReady(n.Members[0])
	n.Members[0].MustCommit(incluster.Key("g", 1), 6)
	n.Members[0].Stop()
	n.Members[0].Start()
	n.WaitReady(n.Members[0])
	n.Members[0].MustRead(incluster.Key("g", 1), linearizable, 6)
}

// TestRescueFromABackup, which has something of everything: offsets and their
// marks come along, claims and an import under way do not.
func TestRescueFromABackup(t *testing.T) {
	data, err := os.ReadFile("../fsm/backup/testdata/version1/state.backup")
	if err != nil {
		t.Fatal(err)
	}
	b, err := backup.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(b.Root.Claims()) == 0 || b.Root.Import() == nil || b.Root.Queues() == 0 {
		t.Fatalf("%+v, %v", b, err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	left := &node.Remains{Root: b.Root, Member: b.Node}
	made, err := left.Found(t.Context(), rescue(dir))
	if err != nil {
		t.Fatal(err)
	}
	n := incluster.New(t, 1, func(m *incluster.Member) { m.Dir, m.Config.Dir, m.Config.InitialCluster = dir, dir, nil })
	m := n.Members[0]
	m.Start()
	n.WaitReady(m)
	b.Root.Walk(&offset.List{}, func(want offset.KeyedState) bool {
		s, meta, err := m.Fetch(t.Context(), want.Key, linearizable)
		if err != nil || s.Position.Offset != want.Position.Offset || s.Position.Pending != want.Position.Pending || s.Epoch != made.Root.Index() || s.Claim != 0 || meta.Cluster != made.Root.Cluster() {
			t.Errorf("%s was %+v, and is %+v, %v", want.Key, want.KeyState, s, err)
		}
		return true
	})
	if s := m.Status(); s.Import != nil || s.Queues != b.Root.Queues() || made.Root.Index() != b.Root.Index()+1 {
		t.Errorf("import %+v, %d offsets of %d, from index %d on", s.Import, s.Queues, b.Root.Queues(), made.Root.Index())
	}
}

// TestNothingIsRescuedFrom a folder in use, under quarantine, damaged, without a
// member, or of one that has never run.
func TestNothingIsRescuedFrom(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	m.MustCommit(incluster.Key("g", 1), 5)
	var locked *store.LockedError
	if _, err := node.ReadRemains(t.Context(), m.Dir); !errors.As(err, &locked) {
		t.Errorf("in use: %v", err)
	}
	c.Stop()
	refused := func(what, dir string, want error, says string) {
		t.Helper()
		had := files(t, dir)
		if _, err := node.ReadRemains(t.Context(), dir); !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
		sameFiles(t, dir, had)
	}
	refused("an empty folder", t.TempDir(), offset.ErrInvalid, "no member's data folder")
	fresh := incluster.New(t, 1).Members[0]
	fresh.Config.InitialCluster = nil
	fresh.Start()
	c.Until("it has an id", func() bool { return fresh.ID() != "" })
	fresh.Stop()
	refused("a member that waits to be added", fresh.Dir, offset.ErrInvalid, "never run")

	mark := filepath.Join(m.Dir, "quarantine.json")
	if err := os.WriteFile(mark, []byte(`{"checkpoint": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("under quarantine", m.Dir, offset.ErrDamaged, "under quarantine")
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(m.Dir, "raft", "log.db"), 5000); err != nil {
		t.Fatal(err)
	}
	refused("a log that was cut off", m.Dir, offset.ErrDamaged, "log.db")
}

// TestRescueIsAllOrNothing: over no folder that holds something, and after an end
// half way nothing is there.
func TestRescueIsAllOrNothing(t *testing.T) {
	c := incluster.Start(t, 1)
	c.Members[0].Fill("g", 5000, 7)
	c.Stop()
	left, err := node.ReadRemains(t.Context(), c.Members[0].Dir)
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "data")
	fails := func(ctx context.Context, what, says string) {
		t.Helper()
		if _, err := left.Found(ctx, rescue(dir)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fails(ended, "stopped by a signal", context.Canceled.Error())
	if list := files(t, parent); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	had := files(t, parent)
	fails(t.Context(), "over a folder that holds something", "is not empty")
	sameFiles(t, parent, had)
	if err := os.Remove(filepath.Join(dir, "mine")); err != nil {
		t.Fatal(err)
	}
	if _, err := left.Found(t.Context(), rescue(dir)); err != nil {
		t.Errorf("over an empty folder: %v", err)
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(parent, "other.rescue.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(parent, "other")
	fails(t.Context(), "beside one that was broken off", "was broken off")
	dir = filepath.Join(parent, "none", "data")
	fails(t.Context(), "without a folder above", "make the folder above it")
}
