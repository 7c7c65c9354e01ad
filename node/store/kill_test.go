package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestKilledAnywhere kills a working process at random places, ten times on one
// folder. Each time the folder opens, the log is whole and holds all that was
// told, and what was told of snapshot, term and vote, or a newer one, is good.
func TestKilledAnywhere(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	dir := storeDir(t)
	for round := range 10 {
		c := startChild(t, "work", dir)
		var last, snap, term uint64
		for range 1 + r.IntN(8) {
			if _, err := fmt.Sscan(c.line(t), &last, &snap, &term); err != nil {
				t.Fatalf("child says %q", c.out.Text())
			}
		}
		burn(r.IntN(20_000_000)) // somewhere inside the next rounds
		must(t, c.cmd.Process.Kill())
		_ = c.cmd.Wait()

		s := open(t, Config{Dir: dir, MustExist: true})
		metas, err := s.Snapshots().List()
		if err != nil || len(metas) == 0 || metas[0].Index < snap {
			t.Fatalf("round %d: snapshot %d was told, found %+v, %v", round, snap, metas, err)
		}
		if data, err := readSnapshot(s, metas[0].ID); err != nil || !bytes.Equal(data, noise(3*chunkBytes)) {
			t.Errorf("round %d: %d bytes, %v", round, len(data), err)
		}
		must(t, s.Close())
		vote, err := readVote(dir)
		if err != nil || vote.Term < term || vote.CurrentTerm < vote.Term || vote.Candidate != fmt.Sprint("n", vote.Term) {
			t.Errorf("round %d: a vote in term %d was told, found %+v, %v", round, term, vote, err)
		}
		got := pieces(t, dir)
		if len(got) != 1 || got[0][1] < last || got[0][0] > max(1, got[0][1]-min(got[0][1], 900)+1) {
			t.Errorf("round %d: entry %d was told, on disk: %v", round, last, got)
		}
	}
}

// burn passes some time that no clock measures.
func burn(n int) {
	x := uint64(1)
	for range n {
		x = x*6364136223846793005 + 1
	}
	sink0 = x
}

var sink0 uint64
