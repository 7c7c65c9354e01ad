package tidemarktest

import (
	"context"
	"errors"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// faultyService is what one member serves to clients: its own service, with
// the failures that were asked for.
type faultyService struct {
	server.Service
	failures *failures
	door     *door
}

// Commit commits.
func (s *faultyService) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) (v []offset.Verdict, m offset.Meta, err error) {
	f := s.failures.next(Commit)
	if errors.Is(f.err, offset.ErrFenced) {
		return s.fenceAll(ctx, p, c)
	}
	err = s.play(ctx, p, f, func() (err error) { v, m, err = s.Service.Commit(ctx, p, c); return err })
	return v, m, err
}

// fenceAll is the answer to commits that are all fenced.
func (s *faultyService) fenceAll(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	f := &offset.Fetch{}
	for _, t := range c.Topics {
		for _, q := range t.Queues {
			f.Keys = append(f.Keys, offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}})
		}
	}
	states, m, err := s.Service.Fetch(ctx, p, f)
	verdicts := make([]offset.Verdict, len(states))
	for i, st := range states {
		verdicts[i] = offset.Verdict{Code: offset.CodeFenced, State: st}
	}
	return verdicts, m, err
}

// Set sets one key.
func (s *faultyService) Set(ctx context.Context, p auth.Principal, c *offset.Set) (v offset.Verdict, m offset.Meta, err error) {
	err = s.play(ctx, p, s.failures.next(Set), func() (err error) { v, m, err = s.Service.Set(ctx, p, c); return err })
	return v, m, err
}

// Fetch reads keys.
func (s *faultyService) Fetch(ctx context.Context, p auth.Principal, q *offset.Fetch) (list []offset.KeyState, m offset.Meta, err error) {
	err = s.play(ctx, p, s.failures.next(Fetch), func() (err error) { list, m, err = s.Service.Fetch(ctx, p, q); return err })
	return list, m, err
}

// Act does an operator's act.
func (s *faultyService) Act(ctx context.Context, p auth.Principal, a *offset.Act) (r offset.ActResult, m offset.Meta, err error) {
	err = s.play(ctx, p, s.failures.next(Act), func() (err error) { r, m, err = s.Service.Act(ctx, p, a); return err })
	return r, m, err
}

// List gives one page.
func (s *faultyService) List(ctx context.Context, p auth.Principal, l *offset.List) (page offset.Page, err error) {
	err = s.play(ctx, p, s.failures.next(List), func() (err error) { page, err = s.Service.List(ctx, p, l); return err })
	return page, err
}

// Export gives all pages.
func (s *faultyService) Export(ctx context.Context, p auth.Principal, l *offset.List, yield func(offset.Page) error) error {
	return s.play(ctx, p, s.failures.next(List), func() error { return s.Service.Export(ctx, p, l, yield) })
}

// errLost is answered where nobody hears it any more.
var errLost = offset.Errorf(offset.ErrOutcomeUnknown, "the connection was broken on purpose")

// play does a call as the fault has it.
func (s *faultyService) play(ctx context.Context, p auth.Principal, f Fault, do func() error) error {
	if !f.wait(ctx) {
		return offset.Errorf(offset.ErrBusy, "the call was delayed beyond its deadline on purpose")
	}
	err := f.err
	if f.done || !f.lose && err == nil {
		err = do()
	}
	if f.lose {
		s.door.breakOff(p.From)
		err = errLost
	}
	return err
}
