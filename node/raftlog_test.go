package node

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestRaftSaysAThingOfAPeerOnce(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	l := newRaftLog(hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info}))
	l.now = func() time.Time { return now }
	down := errors.New("refused")
	for range 50 {
		l.Error("failed to heartbeat to", "peer", "n2", "error", down)
		l.Error("failed to heartbeat to", "peer", "n3", "error", down)
		now = now.Add(time.Second / 5)
	}
	l.Error("failed to get log", "index", 7)
	l.Error("failed to get log", "index", 7)
	got := out.String()
	for what, want := range map[string]int{
		"[WARN]  failed to heartbeat to: peer=n2": 1,
		"[WARN]  failed to heartbeat to: peer=n3": 1,
		"[ERROR] failed to get log: index=7":      2,
	} {
		if n := strings.Count(got, what); n != want {
			t.Errorf("%q is said %d times, want %d", what, n, want)
		}
	}
	now = now.Add(time.Second)
	l.Error("failed to heartbeat to", "peer", "n2", "error", down)
	if !strings.Contains(out.String(), "times=50") {
		t.Errorf("the times in between are not named:\n%s", out.String())
	}
}

func TestElectionsThatNobodyWinsDoNotFloodTheLog(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	l := newRaftLog(hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info}))
	l.now = func() time.Time { return now }
	for term := range 60 {
		l.Warn("Election timeout reached, restarting election")
		l.Info("entering candidate state", "node", "n1", "term", term)
		now = now.Add(time.Second / 2)
	}
	l.Info("election won", "term", 60)
	l.Info("election won", "term", 61)
	got := out.String()
	for what, want := range map[string]int{
		"[WARN]  Election timeout reached, restarting election":           3,
		"[WARN]  Election timeout reached, restarting election: times=20": 2,
		"[INFO]  entering candidate state: node=n1 term=0\n":              1,
		"[INFO]  entering candidate state: node=n1 term=40 times=20":      1,
		"[INFO]  election won": 2,
	} {
		if n := strings.Count(got, what); n != want {
			t.Errorf("%q is said %d times, want %d:\n%s", what, n, want, got)
		}
	}
}

// A member that closes its connections says nothing of what that breaks off.
func TestClosingConnectionsIsNoNews(t *testing.T) {
	var out bytes.Buffer
	l := newRaftLog(hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info}))
	l.Error("failed to decode incoming command", "error", &net.OpError{Op: "read", Err: net.ErrClosed})
	l.quiet.Store(true)
	l.Error("failed to heartbeat to", "peer", "n2:7412", "error", io.EOF)
	if out.Len() > 0 {
		t.Errorf("logged: %s", out.String())
	}
	l.Error("failed to commit logs", "error", io.ErrShortWrite)
	if !strings.Contains(out.String(), "failed to commit logs") {
		t.Error("an error of this member's own was kept back")
	}
}
