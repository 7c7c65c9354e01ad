package node

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

func mustOpen(t *testing.T, dir, name string) *identity {
	t.Helper()
	i, err := openIdentity(dir, name, "raft")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.close() })
	return i
}

// TestAForeignFolderIsLeftAlone: a first start in a folder that is somebody
// else's writes nothing there; what is nobody's does not matter.
func TestAForeignFolderIsLeftAlone(t *testing.T) {
	for _, x := range []struct {
		name    string
		foreign bool
	}{{"notes.txt", true}, {"lost+found", false}, {".snapshot", false}, {memberFile + ".tmp", false}, {lockFile, false}} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, x.name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		i, err := openIdentity(dir, "n1", "raft")
		switch {
		case !x.foreign && err != nil:
			t.Errorf("beside %s: %v", x.name, err)
		case !x.foreign:
			i.close()
		case ExitCode(err) != ExitConfig || !strings.Contains(err.Error(), x.name) || !strings.Contains(err.Error(), "--data"):
			t.Errorf("beside %s: %v", x.name, err)
		default:
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("beside %s it left %v", x.name, left)
			}
		}
	}
}

func TestIdentityIsMintedOnceAndKept(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "data")
	i := mustOpen(t, dir, "n1")
	id := i.id()
	if len(id) != len("n1/")+32 || !i.cluster().IsZero() || i.started() || i.drawing() || i.founders() != nil {
		t.Errorf("a fresh identity: %q %v", id, i.now)
	}
	voters := []peer.Founder{{ID: id, Peer: "n1:7412"}, {ID: "n2/x", Peer: "n2:7412"}}
	steps := []func() error{
		func() error { return i.join(offset.ClusterID{7}, voters, true) },
		func() error { return i.settle() },
		func() error { return i.markStarted() },
		func() error { return i.markStarted() },
		func() error { return i.join(offset.ClusterID{7}, nil, true) }, // it is a member already
	}
	for k, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		i.close()
		i = mustOpen(t, dir, "n1")
		if i.id() != id || i.cluster() != (offset.ClusterID{7}) || !reflect.DeepEqual(i.founders(), voters) || i.drawing() != (k == 0) || i.started() != (k >= 2) {
			t.Errorf("after step %d: %+v", k, i.now)
		}
	}
	if err := i.join(offset.ClusterID{8}, nil, false); !errors.Is(err, offset.ErrForeignCluster) || i.cluster() != (offset.ClusterID{7}) {
		t.Errorf("joining another cluster: %v", err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, memberFile): 0o600, filepath.Join(dir, lockFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("%v is left", left)
	}
	if other := mustOpen(t, filepath.Join(t.TempDir(), "data"), "n1"); other.id() == id {
		t.Error("two folders have one identity")
	}
}

// TestNameInAFolder is told without opening it.
func TestNameInAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if name, err := NameIn(dir); name != "" || err != nil {
		t.Errorf("of a folder that is not there: %q, %v", name, err)
	}
	mustOpen(t, dir, "n7")
	if name, err := NameIn(dir); name != "n7" || err != nil {
		t.Errorf("of one in use: %q, %v", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, memberFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if name, err := NameIn(dir); name != "" || !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("of a damaged one: %q, %v", name, err)
	}
}

func TestFolderBelongsToOneProcess(t *testing.T) {
	dir := t.TempDir()
	i := mustOpen(t, dir, "n1")
	var locked *store.LockedError
	if _, err := openIdentity(dir, "n1"); !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second process: %v", err)
	}
	i.close()
	mustOpen(t, dir, "n1")
}

func TestForeignAndMissingIdentity(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir, "n1").close()
	path := filepath.Join(dir, memberFile)
	_, err := openIdentity(dir, "n2")
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `member "n1"`) {
		t.Errorf("another name: %v", err)
	}
	os.Remove(path)
	os.Mkdir(filepath.Join(dir, "raft"), 0o700)
	_, err = openIdentity(dir, "n1", "audit", "raft")
	if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "empty data folder") {
		t.Errorf("missing beside data: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a new identity was minted over existing data")
	}
	if _, err := openIdentity(filepath.Join(dir, "none", "data"), "n1"); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a folder whose parent is missing: %v", err)
	}
	if _, err := openIdentity(path+".file", "n1"); err != nil {
		t.Errorf("a new folder: %v", err)
	}
	os.WriteFile(path+".plain", nil, 0o600)
	if _, err := openIdentity(path+".plain", "n1"); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a file in the place of the folder: %v", err)
	}
}

// What the operator has put in the way is said with the way out.
func TestUnusableDataFolder(t *testing.T) {
	for _, name := range []string{memberFile, lockFile} {
		dir := t.TempDir()
		os.Mkdir(filepath.Join(dir, name), 0o700)
		if _, err := openIdentity(dir, "n1"); ExitCode(err) != ExitDamaged || !strings.Contains(err.Error(), filepath.Join(dir, name)+" is a folder") {
			t.Errorf("%s is a folder: %v", name, err)
		}
	}
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, auditFile), 0o700)
	if _, err := openAudit(dir, hclog.NewNullLogger(), func() {}); ExitCode(err) != ExitDamaged || !strings.Contains(err.Error(), "move it out") {
		t.Errorf("%s is a folder: %v", auditFile, err)
	}
	for _, cause := range []error{syscall.EROFS, syscall.EACCES} { // root may write everywhere, so no folder is made for it
		err := unusable(&os.PathError{Op: "open", Path: "/d/x", Err: cause})
		if ExitCode(err) != ExitConfig || !strings.Contains(err.Error(), "--data") || !strings.Contains(err.Error(), "/d/x") {
			t.Errorf("%v: %v", cause, err)
		}
	}
	if err := unusable(syscall.EIO); err != syscall.EIO {
		t.Errorf("another error became %v", err)
	}
}

func TestDamagedIdentity(t *testing.T) {
	dir := t.TempDir()
	i := mustOpen(t, dir, "n1")
	if err := i.join(offset.ClusterID{7}, []peer.Founder{{ID: i.id(), Peer: "n1:7412"}}, true); err != nil {
		t.Fatal(err)
	}
	i.close()
	path := filepath.Join(dir, memberFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, b []byte) {
		t.Helper()
		os.WriteFile(path, b, 0o600)
		_, err := openIdentity(dir, "n1")
		if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, offset.ErrLevel) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
			t.Fatalf("%s: the damaged file was changed", what)
		}
	}
	for n := range len(whole) - 1 { // the last byte is the end of the line
		refused("cut", whole[:n])
	}
	for at := range whole {
		b := bytes.Clone(whole)
		b[at] ^= 1
		if _, err := decodeMember(b); err == nil && !bytes.ContainsAny(whole[at:at+1], " \n") {
			t.Errorf("with a bit turned at byte %d (%q), it passes", at, whole[at])
		}
	}
	refused("empty", nil)
	refused("zeros", make([]byte, 300))
	refused("two", append(bytes.Clone(whole), whole...))
	refused("huge", append(bytes.Clone(whole), bytes.Repeat([]byte(" "), maxMemberFile)...))
	refused("newer", bytes.Replace(whole, []byte(`"version": 1`), []byte(`"version": 2`), 1))
	refused("a field that is not known", bytes.Replace(whole, []byte(`"version": 1`), []byte(`"version": 1, "x": 0`), 1))
	os.WriteFile(path, whole, 0o600)
	mustOpen(t, dir, "n1")
}

// Whatever a crash leaves of a write beside the file, the file is what it was.
func TestCrashWhileReplacing(t *testing.T) {
	dir := t.TempDir()
	i := mustOpen(t, dir, "n1")
	id := i.id()
	i.close()
	os.WriteFile(filepath.Join(dir, memberFile+".tmp"), []byte(`{"format": "tide`), 0o600)
	i = mustOpen(t, dir, "n1")
	if i.id() != id {
		t.Errorf("%s became %s", id, i.id())
	}
	if err := i.join(offset.ClusterID{1}, nil, false); err != nil {
		t.Errorf("what is left is in the way: %v", err)
	}
}

func TestFailedWriteChangesNothing(t *testing.T) {
	dir := t.TempDir()
	i := mustOpen(t, dir, "n1")
	if err := os.Mkdir(filepath.Join(dir, memberFile+".tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := i.join(offset.ClusterID{1}, nil, false); err == nil || !i.cluster().IsZero() {
		t.Errorf("%v; cluster %v", err, i.cluster())
	}
}

func FuzzMemberFile(f *testing.F) {
	r := memberRecord{Name: "n1", Member: strings.Repeat("ab", 16), Started: true, cluster: offset.ClusterID{1}, founders: []peer.Founder{{ID: "n1/x", Peer: "n1:1"}}}
	b, err := r.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":"tidemark member","version":1,"crc32c":"","member":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeMember(b)
		if err != nil {
			return
		}
		again, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decodeMember(again); err != nil || !reflect.DeepEqual(back.founders, r.founders) || back.cluster != r.cluster || back.Member != r.Member {
			t.Fatalf("%+v became %+v, %v", r, back, err)
		}
	})
}

// TestAStartWithoutANetworkForgetsNoAddress: it can ask nobody there, and the
// next start with one still has to.
func TestAStartWithoutANetworkForgetsNoAddress(t *testing.T) {
	id, err := openIdentity(t.TempDir(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	defer id.close()
	at := func(peer string) {
		f := newFounding(foundingConfig{identity: id, peer: peer, meet: func(addr string) meeter {
			t.Fatalf("%s is asked from %s", addr, peer)
			return nil
		}})
		if err := f.lookBehind(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	at("here:7412")
	at(nowhere)
	if got := id.addresses(); len(got) != 1 || got[0] != "here:7412" {
		t.Errorf("it remembers %q", got)
	}
}
