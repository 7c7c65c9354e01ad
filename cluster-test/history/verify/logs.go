package verify

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/node/store"
)

// Logs reads the logs of nodes that have ended, up to an index that all of them
// have applied, and demands that they agree entry by entry, except for what a member
// shows to nobody (store.Buried). The list is what all have together; whole reports
// that nothing is missing from it.
func Logs(folders map[string]string, upTo uint64) (list []record.Entry, whole bool, err error) {
	type held struct {
		raft.Log
		by string
	}
	all := map[uint64]held{}
	for name, dir := range folders {
		one, err := shown(filepath.Join(dir, "raft"))
		if err != nil {
			return nil, false, fmt.Errorf("the log of %s: %w", name, err)
		}
		for _, l := range one {
			x, ok := all[l.Index]
			switch {
			case l.Index > upTo:
			case !ok:
				all[l.Index] = held{l, name}
			case x.Term != l.Term || x.Type != l.Type || string(x.Data) != string(l.Data):
				return nil, false, violation("logs match", "entry %d of %s has term %d, type %v, %d bytes, and of %s term %d, type %v, %d bytes",
					l.Index, x.by, x.Term, x.Type, len(x.Data), name, l.Term, l.Type, len(l.Data))
			}
		}
	}
	whole = true
	for i := uint64(1); i <= upTo; i++ {
		x, ok := all[i]
		if !ok {
			whole = false
			continue
		}
		list = append(list, record.Entry{Index: i, Term: x.Term, Command: x.Type == raft.LogCommand, Data: x.Data})
	}
	return list, whole, nil
}

// shown reads what a stopped member's log still shows.
func shown(dir string) (list []raft.Log, err error) {
	buried, err := store.Buried(dir)
	if err != nil {
		return nil, err
	}
	err = store.ReadLog(dir, func(l *raft.Log) error {
		if l.Index > buried {
			list = append(list, raft.Log{Index: l.Index, Term: l.Term, Type: l.Type, Data: slices.Clone(l.Data)})
		}
		return nil
	})
	return list, err
}
