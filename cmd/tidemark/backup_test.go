package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// backedUp is a cluster that holds n offsets of a group and one of another, and
// a backup of it.
func backedUp(t *testing.T, n int32) (f *fake, file string) {
	t.Helper()
	f = newFake()
	f.fill(t, 500, append(queues("moss", "t", n), key("reed", "t", "", 0)))
	file = filepath.Join(t.TempDir(), "all.backup")
	f.tidemark(t, "cluster", "backup", file).want(t, 0, "offsets of cluster", "")
	return f, file
}

// noLeftovers: a folder holds what it should, and nothing half written beside.
func noLeftovers(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

// TestBackupIsWrittenWholeOrNotAtAll (hashicorp/consul#7697): one that breaks off
// leaves no file, a file that is there stays unless that is asked for, and
// nobody else may read it (hashicorp/consul#3664).
func TestBackupIsWrittenWholeOrNotAtAll(t *testing.T) {
	f, file := backedUp(t, 1000)
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	before := readFile(t, file)
	f.tidemark(t, "cluster", "backup", file).want(t, exitRefused, "", "is there already")
	f.broken = true
	f.tidemark(t, "cluster", "backup", file, "--overwrite").want(t, exitUnreachable, "", "no backup was written: ")
	if readFile(t, file) != before {
		t.Error("the backup that was there is another")
	}
	noLeftovers(t, filepath.Dir(file), "all.backup")
	f.broken = false
	f.fill(t, 501, queues("moss", "t", 1))
	f.tidemark(t, "cluster", "backup", file, "--overwrite").want(t, 0, "1001 offsets", "")
	if readFile(t, file) == before {
		t.Error("the backup was not replaced")
	}
	f.tidemark(t, "check", "backup", file).want(t, 0, "is whole", "")
}

// TestChangedBackupIsRefusedEverywhere (hashicorp/consul#7697, #6893): cut,
// longer or changed in one bit, neither a check nor a restore takes it, and the
// cluster stays as it is.
func TestChangedBackupIsRefusedEverywhere(t *testing.T) {
	_, file := backedUp(t, 1000)
	data := []byte(readFile(t, file))
	g := newFake()
	bad := filepath.Join(t.TempDir(), "bad.backup")
	refused := func(what string, data []byte) {
		t.Helper()
		write(t, bad, string(data))
		for _, args := range [][]string{{"check", "backup", bad}, {"cluster", "restore", bad, "--execute", "--allow-removal"}, {"dump", "backup", bad}} {
			if r := g.tidemark(t, args...); r.code != exitBadInput || !strings.Contains(r.err, "SHA-256") && !strings.Contains(r.err, "begin") {
				t.Errorf("%s, %q: exit code %d, %s", what, args, r.code, r.err)
			}
		}
	}
	for _, n := range []int{1, 2, 7, 8, 9, 64, 1024} {
		refused("cut", data[:len(data)-n])
	}
	refused("longer", append(bytes.Clone(data), 0))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		at, bit := random.IntN(len(data)), random.IntN(8)
		changed := bytes.Clone(data)
		changed[at] ^= 1 << bit
		refused("flipped", changed)
	}
	if len(g.acts) > 0 || g.all() != "" {
		t.Errorf("acts were sent: %v", g.acts)
	}
	write(t, bad, string(data))
	g.tidemark(t, "cluster", "restore", bad, "--execute").want(t, 0, "restored at index", "")
}

// TestRestoreIsShownFirst and then done: what is lowered, raised, new and gone
// is named, nothing is done without --execute, and what goes needs a word more.
func TestRestoreIsShownFirst(t *testing.T) {
	f, file := backedUp(t, 3)
	f.fill(t, 900, queues("moss", "t", 1))
	f.fill(t, 7, queues("later", "t", 2))
	f.tidemark(t, "group", "remove", "reed", "--execute").want(t, 0, "removed 1", "")
	before, acts := f.all(), len(f.acts)
	r := f.tidemark(t, "cluster", "restore", file).want(t, 0, "1 lowered, 0 raised, 1 new, 2 the same, 2 REMOVED", "")
	for _, line := range []string{"lowered moss t b 0 900 500", "removed later t b 1 7 -", "new reed t - 0 - 500"} {
		if !strings.Contains(strings.Join(strings.Fields(r.out), " "), line) {
			t.Errorf("%q is not told in\n%s", line, r.out)
		}
	}
	if f.all() != before || len(f.acts) != acts {
		t.Fatal("showing changed something")
	}
	f.tidemark(t, "cluster", "restore", file, "--execute").want(t, exitRefused, "", "would remove 2 offsets")
	f.tidemark(t, "cluster", "restore", file, "--execute", "--allow-removal").want(t, 0, "restored at index", "")
	if want := "moss/t/b/0=500\nmoss/t/b/1=500\nmoss/t/b/2=500\nreed/t//0=500\n"; !sameKeys(f, want) {
		t.Errorf("the cluster holds\n%s", f.all())
	}
}

// sameKeys tells whether a cluster holds as many offsets as want has lines, all
// of them 500.
func sameKeys(f *fake, want string) bool {
	all := f.all()
	return strings.Count(all, "\n") == strings.Count(want, "\n") && strings.Count(all, "=500\n") == strings.Count(want, "\n")
}

// TestRestoreFencesWhoCommits (etcd-io/etcd#6361): a consumer that runs with
// more than the backup has does not bring it back.
func TestRestoreFencesWhoCommits(t *testing.T) {
	f, file := backedUp(t, 1)
	k := key("moss", "t", "b", 0)
	states, _, err := f.Fetch(t.Context(), offset.ReadAt{}, k)
	if err != nil {
		t.Fatal(err)
	}
	f.tidemark(t, "cluster", "restore", file, "--execute").want(t, 0, "fenced", "")
	v, _, err := f.Commit(t.Context(), fakeID, []offset.Commit{{Key: k, Offset: 900, Epoch: states[0].Epoch}})
	if !errors.Is(err, offset.ErrFenced) || v[0].Code != offset.CodeFenced || v[0].State.Position.Offset != 500 {
		t.Errorf("a commit from before the restore: %+v, %v", v, err)
	}
}

// TestRestoreIsSupersededByAnAct: what was shown is what is replaced, or nothing
// is; what was staged is gone on with, or dropped.
func TestRestoreIsSupersededByAnAct(t *testing.T) {
	f, file := backedUp(t, 3)
	f.fill(t, 900, queues("moss", "t", 3))
	steps := 0
	f.before = func() {
		if steps++; steps == 3 { // begun, one chunk, and now the swap
			f.operator(t, "group", "set", "moss", "t:0=42", "--broker", "b", "--execute")
			f.before()
		}
	}
	f.tidemark(t, "cluster", "restore", file, "--execute").want(t, exitRefused, "", "not restored: somebody moved offsets after index")
	if !strings.Contains(f.all(), "=42\n") || strings.Count(f.all(), "=900\n") != 2 {
		t.Fatalf("the cluster holds\n%s", f.all())
	}
	f.tidemark(t, "cluster", "restore", file, "--execute", "--expect-index", "2").want(t, exitRefused, "", "an act at index")
	f.tidemark(t, "cluster", "restore", file, "--execute").want(t, 0, "restored at index", "going on with the restore")
	if strings.Count(f.all(), "=500\n") != 4 {
		t.Errorf("the cluster holds\n%s", f.all())
	}
}

// TestRestoreGoesOn where it was stopped, or is dropped without a trace.
func TestRestoreGoesOn(t *testing.T) {
	for _, way := range []string{"again", "dropped"} {
		f, file := backedUp(t, 1)
		var keys []offset.Key
		for n := range 2000 { // a chunk has 1,250 topics at most
			keys = append(keys, key("moss", fmt.Sprintf("t%d", n), "b", 0))
		}
		f.fill(t, 500, keys)
		f.tidemark(t, "cluster", "backup", file, "--overwrite").want(t, 0, "2002 offsets", "")
		f.fill(t, 900, keys)
		before, sent := f.all(), 0
		f.step = func(i *offset.Import) error {
			if i.Step == offset.ImportChunk {
				if sent++; sent == 2 {
					return errors.New("the machine was lost")
				}
			}
			return nil
		}
		f.tidemark(t, "cluster", "restore", file, "--execute").want(t, 1, "", "the restore stopped before chunk 1 of")
		f.step = nil
		if f.all() != before {
			t.Fatal("a part of the restore is visible")
		}
		f.tidemark(t, "import", cases+"C01.consumerOffset.json.bak", "--execute").want(t, exitRefused, "", "under way")
		if way == "dropped" {
			f.tidemark(t, "import", "--abort", "--execute").want(t, 0, "is dropped", "")
			if f.all() != before || f.table.Root().Import() != nil {
				t.Error("dropping left something")
			}
			continue
		}
		f.tidemark(t, "cluster", "restore", file, "--execute").want(t, 0, "restored", "at chunk 1 of")
		if strings.Count(f.all(), "=500\n") != 2002 {
			t.Error("not all was restored")
		}
	}
}

// TestRestoreOfAnotherCluster takes the offsets, and no index, epoch, mark or claim.
func TestRestoreOfAnotherCluster(t *testing.T) {
	g := newFake()
	file := "../../fsm/backup/testdata/version1/state.backup"
	g.tidemark(t, "cluster", "restore", file).want(t, 0, "it is of ANOTHER cluster than this, "+fakeID.String(), "")
	g.tidemark(t, "cluster", "restore", file, "--execute").want(t, 0, "restored at index", "")
	states, _, err := g.Fetch(t.Context(), offset.ReadAt{}, key("reset", "t", "b", 0))
	if s := states[0]; err != nil || s.Position.Offset != 7 || s.Epoch != g.index || s.Position.Index != g.index || s.Position.Pending || s.Claim != 0 {
		t.Errorf("%+v, %v; the index is %d", s, err, g.index)
	}
}

// TestTheOtherKindOfFile: a backup is no file of offsets, and the other way round;
// each is told what reads it.
func TestTheOtherKindOfFile(t *testing.T) {
	f, file := backedUp(t, 1)
	f.tidemark(t, "import", file).want(t, exitBadInput, "", "`tidemark cluster restore`")
	offsets := filepath.Join(t.TempDir(), "all.csv")
	f.tidemark(t, "export", offsets, "--format", "csv").want(t, 0, "2 offsets", "")
	f.tidemark(t, "check", "backup", offsets).want(t, exitBadInput, "", "`tidemark import`")
}

// TestRescueNamesTheLogStore that the node must be started with, where it is not
// the default.
func TestRescueNamesTheLogStore(t *testing.T) {
	f, file := backedUp(t, 1)
	dir := filepath.Join(t.TempDir(), "data")
	r := f.tidemark(t, "cluster", "rescue", file, dir, "--log-store", "wal", "--execute", "--old-cluster-is-gone")
	r.want(t, 0, "--data "+dir+" --log-store wal,", "")
	dir += "2"
	r = f.tidemark(t, "cluster", "rescue", file, dir, "--execute", "--old-cluster-is-gone")
	r.want(t, 0, "--data "+dir+", add", "")
}
