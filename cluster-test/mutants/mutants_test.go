package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// quick are checks of seconds, which need no cluster.
var quick = []string{"model", "rule", "replay"}

// TestQuickRound makes a handful of mistakes, each in another part of the state
// machine, and has each found.
func TestQuickRound(t *testing.T) {
	todo, err := named(quick)
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(t.Context(), todo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.remove)
	list := []planted.Mistake{
		planted.None, planted.FenceIgnored, planted.SetKeepsEpoch, planted.FloorKept,
		planted.ExpireMoved, planted.ApplyByClock, planted.FloorsNotSaved,
	}
	for _, m := range list {
		s, err := b.look(t.Context(), todo, m)
		t.Log(s)
		if found := s.by != ""; found != (m != planted.None) || err != nil {
			t.Errorf("found by %q: %v", s.by, err)
		}
	}
	if traces := tracesIn(t, b.tests["fsm/table"]); len(traces) < len(planted.All()) {
		t.Errorf("a binary that has them all shows %q only: the search for them finds nothing", traces)
	}
}

// TestReleaseHasNoMistake: neither their names nor the package's, which would be
// in each symbol, nor the variable that chooses one.
func TestReleaseHasNoMistake(t *testing.T) {
	for _, program := range []string{"tidemarkd", "tidemark", "consume"} {
		if traces := tracesIn(t, filepath.Join(local.Binaries(t, ""), program)); traces != nil {
			t.Errorf("%s has %q in it", program, traces)
		}
	}
}

// tracesIn lists what of package planted is in a binary.
func tracesIn(t *testing.T, path string) (found []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"internal/planted", planted.Variable}
	for _, m := range planted.All() {
		words = append(words, m.String())
	}
	for _, w := range words {
		if bytes.Contains(data, []byte(w)) {
			found = append(found, w)
		}
	}
	return found
}

// TestNames: each mistake has a name of its own, which chooses it, and belongs
// to no other check than those there are.
func TestNames(t *testing.T) {
	all := planted.All()
	if len(all) < 25 {
		t.Errorf("only %d mistakes", len(all))
	}
	seen := map[string]bool{}
	for _, m := range all {
		if got, err := planted.ByName(m.String()); err != nil || got != m || seen[m.String()] {
			t.Errorf("%q chooses %v: %v", m.String(), got, err)
		}
		seen[m.String()] = true
	}
	if _, err := planted.ByName("none"); err == nil {
		t.Error("the mistake that is none is found by name")
	}
	if _, err := named([]string{"model", "prayer"}); err == nil {
		t.Error("a check that there is not is run")
	}
	if list, err := named([]string{"rule", "model"}); err != nil || !slices.Equal(names(list), []string{"model", "rule"}) {
		t.Errorf("checks %v: %v", names(list), err)
	}
}

func TestMain(m *testing.M) { local.Main(m) }
