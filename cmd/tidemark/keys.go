package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// keyRow is one key with its position, as results show it.
type keyRow struct {
	Group   string `json:"group"`
	Topic   string `json:"topic"`
	Broker  string `json:"broker"`
	Queue   int32  `json:"queue"`
	Offset  int64  `json:"offset,string"`
	Index   uint64 `json:"index,string"`
	Epoch   uint64 `json:"epoch,string"`
	Claim   uint64 `json:"claim,string,omitempty"`
	Pending bool   `json:"pending"`
	Changed string `json:"changed,omitempty"`
}

func rowOf(k offset.Key, s offset.KeyState) keyRow {
	return keyRow{
		Group: k.Group, Topic: k.Topic, Broker: k.Broker, Queue: k.QueueID,
		Offset: s.Position.Offset, Index: s.Position.Index, Epoch: s.Epoch, Claim: s.Claim,
		Pending: s.Position.Pending, Changed: when(s.Position.Time),
	}
}

func rowsOf(states []offset.KeyedState) []keyRow {
	rows := make([]keyRow, len(states))
	for i, st := range states {
		rows[i] = rowOf(st.Key, st.KeyState)
	}
	return rows
}

// keysTable shows keys; the group is named above it.
func keysTable(t *table, rows []keyRow) {
	t.row("TOPIC", "BROKER", "QUEUE", "OFFSET", "EPOCH", "INDEX", "CHANGED", "")
	for _, r := range rows {
		mark := ""
		if r.Pending {
			mark = "pending"
		}
		t.row(shown(r.Topic), shown(r.Broker), num(r.Queue), num(r.Offset), num(r.Epoch), num(r.Index), r.Changed, mark)
	}
}

// listAll reads all pages of a listing, and calls each with every page. A
// listing of several pages is not of one root: rows that come and go meanwhile
// may be missed, rows that stay are each seen once.
func (s *session) listAll(l offset.List, each func(offset.Page) error) (offset.Meta, error) {
	for {
		p, err := s.listPage(l)
		if err != nil {
			return offset.Meta{}, err
		}
		if err := each(p); err != nil {
			return offset.Meta{}, err
		}
		if !p.More {
			return p.Meta, nil
		}
		l.After = after(p)
	}
}

func (s *session) listPage(l offset.List) (offset.Page, error) {
	ctx, cancel := s.call()
	defer cancel()
	return s.List(ctx, l)
}

// after gives the last row of a page.
func after(p offset.Page) *offset.Key {
	if n := len(p.Keys); n > 0 {
		return &p.Keys[n-1].Key
	}
	if n := len(p.Names); n > 0 {
		last := p.Names[n-1]
		return &offset.Key{Group: last, MessageQueue: offset.MessageQueue{Topic: last}}
	}
	return nil
}

// readLevel is how fresh a read must be.
type readLevel struct {
	Level   string `help:"How fresh: linearizable (the default), or local (as the node has it)." enum:"linearizable,local" default:"linearizable"`
	AtIndex uint64 `help:"Read on a node that has applied this index." placeholder:"INDEX"`
}

func (r readLevel) at() offset.ReadAt {
	switch {
	case r.AtIndex > 0:
		return offset.ReadAt{Level: offset.AtLeast, Index: r.AtIndex}
	case r.Level == "local":
		return offset.ReadAt{Level: offset.Local}
	}
	return offset.ReadAt{}
}

// number reads a number of the command line; what it must not be is bad input,
// not bad usage.
func number(what, text string, bits int) (int64, error) {
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, offset.Errorf(offset.ErrInvalid, "%s %q is not a whole number of %d bits", what, text, bits)
	}
	if n < 0 {
		return 0, offset.Errorf(offset.ErrInvalid, "%s %d is negative; 0 is the least", what, n)
	}
	return n, nil
}

// keyArgs name one queue on the command line.
type keyArgs struct {
	Group  string `arg:"" help:"Consumer group, byte for byte (\"%RETRY%g\" and \"ns%g\" are names of their own)."`
	Topic  string `arg:"" help:"Topic."`
	Queue  string `arg:"" help:"Queue id."`
	Broker string `help:"Broker name; empty for none." placeholder:"NAME"`
}

func (k keyArgs) key() (offset.Key, error) {
	id, err := number("queue", k.Queue, 32)
	if err != nil {
		return offset.Key{}, err
	}
	key := offset.Key{Group: k.Group, MessageQueue: offset.MessageQueue{Topic: k.Topic, Broker: k.Broker, QueueID: int32(id)}}
	return key, key.Validate()
}

// fetch reads one key linearizably.
func (s *session) fetch(k offset.Key, at offset.ReadAt) (offset.KeyState, offset.Meta, error) {
	ctx, cancel := s.call()
	defer cancel()
	states, m, err := s.Fetch(ctx, at, k)
	if err != nil {
		return offset.KeyState{}, m, err
	}
	return states[0], m, nil
}

// export reads all that a list selects, in one piece. Each page may take as
// long as a call; the whole as long as it needs.
func (s *session) export(l offset.List, yield func(offset.Page) error) error {
	return s.unlessSilent(func(ctx context.Context, heard func()) error {
		return s.Export(ctx, l, func(p offset.Page) error {
			heard()
			return yield(p)
		})
	})
}

// unlessSilent runs what answers bit by bit, each time heard; it is ended once
// nothing has come for as long as a call may take.
func (s *session) unlessSilent(do func(ctx context.Context, heard func()) error) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	silence := time.AfterFunc(s.timeout, func() { cancel(context.DeadlineExceeded) })
	defer silence.Stop()
	err := do(ctx, func() { silence.Reset(s.timeout) })
	if err != nil && s.ctx.Err() == nil && context.Cause(ctx) == context.DeadlineExceeded {
		if causeOf(err).err != context.Canceled { // what the client says of it comes first
			return fmt.Errorf("%w; nothing came for %s", err, s.timeout)
		}
		return fmt.Errorf("%w; nothing came for %s: %w", err, s.timeout, offset.ErrUnreachable)
	}
	return err
}
