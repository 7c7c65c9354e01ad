package store

import (
	"runtime"
	"testing"
	"weak"

	"github.com/hashicorp/raft"
)

// A leader's entries are parts of futures that hold the answers of the state
// machine: the tail keeps the entries alone.
func TestTailKeepsNoFuture(t *testing.T) {
	type future struct {
		log raft.Log
		_   [1 << 20]byte // the answer
	}
	tail := newTail(8, 1<<20)
	var futures []weak.Pointer[future]
	for i := range 4 {
		f := &future{log: raft.Log{Index: uint64(i + 1), Term: 2, Data: []byte{byte(i)}}}
		tail.add([]*raft.Log{&f.log})
		futures = append(futures, weak.Make(f))
	}
	runtime.GC()
	for i, f := range futures {
		if f.Value() != nil {
			t.Errorf("future %d is still held", i+1)
		}
		var l raft.Log
		if !tail.get(uint64(i+1), &l) || l.Term != 2 || len(l.Data) != 1 || l.Data[0] != byte(i) {
			t.Errorf("entry %d reads as %+v", i+1, l)
		}
	}
}
