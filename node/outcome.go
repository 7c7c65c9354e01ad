package node

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// errStopped is what awaiting a future gives when we stopped waiting: nothing
// is known of what it stood for.
var errStopped = errors.New("stopped waiting for raft")

// await waits for a future of raft, but no longer than ctx lasts. It returns
// errStopped if ctx ends first. After a shutdown raft leaves most pending
// futures unanswered for ever, so nothing waits for one in any other way.
//
// raft's futures have a channel for just that, ShutdownCh, which it sets on
// some of its own and leaves nil on those it hands out. It is set here before
// the first wait; DESIGN.md says why that is safe. The future of a shutdown has
// none: awaitApart waits for it.
func await(ctx context.Context, f raft.Future) error {
	if ctx.Done() == nil {
		return f.Error()
	}
	end := make(chan struct{})
	stop := context.AfterFunc(ctx, sync.OnceFunc(func() { close(end) }))
	defer stop()
	return awaitUntil(end, f)
}

// awaitUntil is await for a caller that has a channel.
func awaitUntil(end chan struct{}, f raft.Future) error {
	if !arm(f, end) {
		return awaitApart(end, f)
	}
	err := f.Error()
	if errors.Is(err, raft.ErrRaftShutdown) && closed(end) {
		return errStopped
	}
	return err
}

// arm sets the future's ShutdownCh and reports whether waiting for f now ends
// with end. Futures that are answered from the start need no channel.
func arm(f raft.Future, end chan struct{}) bool {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Pointer {
		return true
	}
	field := v.Elem().FieldByName("ShutdownCh")
	if !field.IsValid() || !field.CanSet() || field.Type() != reflect.TypeOf(end) {
		return false
	}
	field.Set(reflect.ValueOf(end))
	return true
}

// awaitApart waits in a goroutine, which ends with raft: where that hangs, as it
// may on a disk that does, it stays until the process ends.
func awaitApart(end chan struct{}, f raft.Future) error {
	got := make(chan error, 1)
	go func() { got <- f.Error() }()
	select {
	case err := <-got:
		return err
	case <-end:
		return errStopped
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// proposed turns raft's answer to a proposed entry into the one for its callers.
// Only three of its errors mean that the entry was not appended; all else, a failed
// write of the log included, leaves the outcome open.
func proposed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress):
		return offset.Errorf(offset.ErrNotLeader, "%v", err)
	case planted.Is(planted.LostLeadershipAsRefusal) && errors.Is(err, raft.ErrLeadershipLost):
		return offset.Errorf(offset.ErrNotLeader, "%v", err)
	}
	return offset.Errorf(offset.ErrOutcomeUnknown, "%v; sending the same again is safe", err)
}

// resendable adds to an unknown outcome what its caller may do, for requests that
// may be sent again at no cost. The leader's own words are kept.
func resendable(err error) error {
	const safe = "sending the same again is safe"
	if !errors.Is(err, offset.ErrOutcomeUnknown) || strings.Contains(err.Error(), safe) {
		return err
	}
	out := &offset.Error{Err: offset.ErrOutcomeUnknown}
	if e := (*offset.Error)(nil); errors.As(err, &e) {
		out.Leader = e.Leader
	}
	text := strings.TrimPrefix(err.Error(), offset.ErrOutcomeUnknown.Error()+": ")
	out.Text = fmt.Sprintf("the leader has not answered (%s); %s", text, safe)
	return out
}
