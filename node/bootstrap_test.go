package node

import (
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/node/store"
)

// TestBootstrapAfterAKill: whatever of raft's first state was written before a
// process was killed at it, the next start has all of it, and no second one.
func TestBootstrapAfterAKill(t *testing.T) {
	first := raft.Configuration{Servers: []raft.Server{{ID: "n1/a", Address: "n1:7412"}}}
	for name, written := range map[string]func(*store.Store) error{
		"nothing":        func(*store.Store) error { return nil },
		"the term alone": func(s *store.Store) error { return s.Stable().SetUint64([]byte("CurrentTerm"), 1) },
		"all of it": func(s *store.Store) error {
			return bootstrap(testBootstrapConfig(), s, first)
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk, err := store.Open(store.Config{Dir: t.TempDir(), Member: "n1/a"})
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			if err := written(disk); err != nil {
				t.Fatal(err)
			}
			if err := bootstrap(testBootstrapConfig(), disk, first); err != nil {
				t.Fatal(err)
			}
			var l raft.Log
			if err := disk.Log().GetLog(1, &l); err != nil {
				t.Fatal(err)
			}
			got := raft.DecodeConfiguration(l.Data)
			last, err := disk.Log().LastIndex()
			term, _ := disk.Stable().GetUint64([]byte("CurrentTerm"))
			if err != nil || last != 1 || term != 1 || l.Term != 1 || l.Type != raft.LogConfiguration || len(got.Servers) != 1 || got.Servers[0] != first.Servers[0] {
				t.Errorf("last %d, term %d, entry %+v with %+v, %v", last, term, l, got, err)
			}
		})
	}
}

func testBootstrapConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = "n1/a"
	return c
}
