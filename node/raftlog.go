package node

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// repeats bounds how often raft's log says one thing of one peer: while a
// member is down the library reports it several times a second, as an error;
// so it does with elections that nobody wins while a majority is away.
const (
	repeatEvery = 10 * time.Second
	repeatKeys  = 256
)

// raftLog takes raft's errors about peers, which are no errors of this member:
// as warnings, and each at most once in repeatEvery, with how often it was
// said meanwhile; what it repeats for want of a leader likewise, as it is. All
// else goes through.
type raftLog struct {
	hclog.Logger
	now func() time.Time
	// quiet: connections are being closed here; what raft says of that is no news.
	quiet atomic.Bool

	mu   sync.Mutex
	said map[string]*repeat
}

type repeat struct {
	at    time.Time
	count int
}

// repeated are the messages of the library that are tamed.
var repeated = map[string]bool{
	"failed to heartbeat to":                  true,
	"failed to appendEntries to":              true,
	"failed to pipeline appendEntries":        true,
	"failed to start pipeline replication to": true,
	"failed to make requestVote RPC":          true,
	"failed to make timeoutNow RPC":           true,
	"failed to decode incoming command":       true,
	"failed to flush response":                true,
	"failed to install snapshot":              true,
	"failed to send snapshot to":              true,

	"entering candidate state":                                      true,
	"Election timeout reached, restarting election":                 true,
	"pre-vote campaign failed, waiting for election timeout":        true,
	"rejecting vote request since we have a leader":                 true,
	"rejecting vote request since node is not in configuration":     true,
	"rejecting vote request since node is not a voter":              true,
	"rejecting vote request since our last term is greater":         true,
	"rejecting vote request since our last index is greater":        true,
	"rejecting pre-vote request since we have a leader":             true,
	"rejecting pre-vote request since node is not in configuration": true,
	"rejecting pre-vote request since node is not a voter":          true,
	"rejecting pre-vote request since our last term is greater":     true,
	"rejecting pre-vote request since our last index is greater":    true,
}

func newRaftLog(l hclog.Logger) *raftLog {
	return &raftLog{Logger: l, now: time.Now, said: map[string]*repeat{}}
}

// Error passes an error on, or counts it.
func (l *raftLog) Error(msg string, args ...any) {
	if !repeated[msg] {
		l.Logger.Error(msg, args...)
		return
	}
	if l.quiet.Load() || closedHere(args) {
		l.Logger.Debug(msg, args...)
		return
	}
	if n, ok := l.due(msg, args); ok {
		l.Logger.Warn(msg, append(args, "times", n)...)
	}
}

// closedHere reports whether the error among args is that this side has closed
// the connection itself.
func closedHere(args []any) bool {
	for _, a := range args {
		if err, ok := a.(error); ok && errors.Is(err, net.ErrClosed) {
			return true
		}
	}
	return false
}

// Warn passes a warning on, or counts it.
func (l *raftLog) Warn(msg string, args ...any) { l.say(l.Logger.Warn, msg, args) }

// Info passes a line on, or counts it.
func (l *raftLog) Info(msg string, args ...any) { l.say(l.Logger.Info, msg, args) }

func (l *raftLog) say(log func(string, ...any), msg string, args []any) {
	if !repeated[msg] {
		log(msg, args...)
		return
	}
	switch n, ok := l.due(msg, args); {
	case ok && n > 1:
		log(msg, append(args, "times", n)...)
	case ok:
		log(msg, args...)
	}
}

// due reports whether the message is to be said now, and for how many times.
func (l *raftLog) due(msg string, args []any) (times int, ok bool) {
	key := msg
	if len(args) > 1 && args[0] != "error" {
		key += fmt.Sprint(args[1])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.said) >= repeatKeys {
		clear(l.said)
	}
	r := l.said[key]
	if r == nil {
		r = &repeat{}
		l.said[key] = r
	}
	r.count++
	if now := l.now(); now.Sub(r.at) >= repeatEvery {
		times, r.at, r.count = r.count, now, 0
		return times, true
	}
	return 0, false
}
