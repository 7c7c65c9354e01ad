package node

import (
	"errors"

	"github.com/hashicorp/raft"
)

// lastCommand finds the last command at or below a committed index: raft keeps
// entries of its own between them, which the FSM never sees. It is used by one
// goroutine.
type lastCommand struct {
	// upTo is a committed index, found the last command at or below it, 0 if the
	// log no longer has one.
	upTo, found uint64
}

// at returns the index of the last command at or below committed, which never
// falls. What the log no longer has is in a snapshot, and applied here.
func (l *lastCommand) at(log raft.LogStore, committed uint64) (uint64, error) {
	for i := committed; i > l.upTo; i-- {
		var e raft.Log
		err := log.GetLog(i, &e)
		if errors.Is(err, raft.ErrLogNotFound) {
			break
		}
		if err != nil {
			return 0, err
		}
		if e.Type == raft.LogCommand {
			l.found = i
			break
		}
	}
	l.upTo = max(l.upTo, committed)
	return l.found, nil
}
