package backup

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestC39 (hashicorp/consul#7697, #6893): what is not the backup byte for byte is
// refused, by a check and by a restore, and changes nothing in the cluster; the
// backup itself, of another cluster, goes in.
func TestC39(t *testing.T) {
	from, into := local.Start(t, 3), local.Start(t, 3)
	keys := moss(1000)
	raise(from, keys, 500)
	good := filepath.Join(t.TempDir(), "all.backup")
	saved := take(from, good, from.API("n2"))
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	before := ask.Same(t, into.Nodes())
	bad := filepath.Join(t.TempDir(), "bad.backup")
	refused := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"check", "backup", bad}, {"cluster", "restore", bad, "--execute", "--allow-removal"}} {
			if r := into.Tidemark(args...); r.Code != 3 || !strings.Contains(r.Err, "not to be relied on") {
				t.Errorf("%s: %v ends with %d: %s%s", what, args, r.Code, r.Out, r.Err)
			}
		}
	}
	for _, n := range []int{1, 2, 7, 8, 9, 64, 1024} {
		refused("cut off", data[:len(data)-n])
	}
	refused("longer", append(bytes.Clone(data), 0))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2 { // all bits of all bytes are changed in fsm/backup
		flipped := bytes.Clone(data)
		flipped[random.IntN(len(data))] ^= 1 << random.IntN(8)
		refused("flipped", flipped)
	}
	if after := ask.Same(t, into.Nodes()); after != before {
		t.Errorf("the cluster was at index %d, and is at %d", before, after)
	}
	into.Tidemark("cluster", "restore", good, "--execute").Want(t, 0, "of ANOTHER cluster", "")
	for _, n := range into.Nodes() {
		all(t, n, ask.Default, keys, 500)
	}
	if b := take(into, good, into.API("n3"), "--overwrite"); content(b) != content(saved) || b.ID == saved.ID {
		t.Error("the restored cluster holds something else")
	}
}
