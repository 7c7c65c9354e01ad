package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

// acting are the flags of a command that moves offsets by an act.
type acting struct {
	execute
	ExpectIndex *uint64 `help:"Refuse (exit code 4) if anything of this has moved since that index, such as the one that a run without --execute named." placeholder:"INDEX"`
}

// act sends an act with an id of its own.
func (s *session) act(a offset.Act) (offset.ActResult, error) {
	if a.ID.IsZero() {
		a.ID = newID()
	}
	ctx, cancel := s.call()
	defer cancel()
	r, _, err := s.Act(ctx, a)
	s.changed = err == nil
	return r, err
}

// actOn sends an act that was decided by what was read at its base. An outcome
// that is unknown can be cleared up by the same command, told to expect that index.
func (s *session) actOn(a offset.Act) (offset.ActResult, error) {
	r, err := s.act(a)
	if errors.Is(err, offset.ErrOutcomeUnknown) {
		err = fmt.Errorf("%w: look with `tidemark group describe`, or run it again with --expect-index %d, which refuses if it was done", err, a.Base)
	}
	return r, err
}

// narrower says what to do where an act was refused that is well formed, which
// is so if it is too large for a message.
func narrower(err error, next string) error {
	if errors.Is(err, offset.ErrInvalid) {
		return fmt.Errorf("%w: %s", err, next)
	}
	return err
}

// newID draws the id of an act.
func newID() (id offset.ActID) {
	_, _ = rand.Read(id[:]) // it never fails
	return id
}

// expect refuses to go on where one of the keys has moved since index.
func (a acting) expect(at uint64, states []offset.KeyedState) error {
	switch {
	case a.ExpectIndex == nil:
		return nil
	case *a.ExpectIndex > at:
		return offset.Errorf(offset.ErrInvalid, "--expect-index %d is ahead of the cluster, which is at index %d", *a.ExpectIndex, at)
	}
	for _, st := range states {
		switch p := st.Position; {
		case p.Index > *a.ExpectIndex && p.Index != p.Epoch:
			return exitf(exitRefused, "%s was committed at index %d, after index %d; look at it again without --execute", st.Key, p.Index, *a.ExpectIndex)
		case max(p.Index, p.Epoch) > *a.ExpectIndex:
			return exitf(exitRefused, "an act at index %d, after index %d, has moved or removed %s; look at it again without --execute", max(p.Index, p.Epoch), *a.ExpectIndex, st.Key)
		}
	}
	return nil
}

// expectNoneGone refuses to go on where an offset of a group was removed since
// the index expected, also one of these topics in all groups: what is not there
// has the index of the last removal as its epoch. Of a topic that nothing is
// left of, and that is not named, only removals from the group are noticed.
func (s *session) expectNoneGone(a acting, group string, topics map[string]bool) error {
	if a.ExpectIndex == nil {
		return nil
	}
	none := []offset.Key{noKey(group, "%")}
	for t := range topics {
		if len(none) < offset.MaxCommits {
			none = append(none, noKey(group, t))
		}
	}
	states, _, err := s.fetchAll(none...)
	if err != nil {
		return err
	}
	var gone uint64
	for _, st := range states {
		if !st.Exists {
			gone = max(gone, st.Position.Epoch)
		}
	}
	if gone > *a.ExpectIndex {
		return exitf(exitRefused, "an act at index %d, after index %d, may have removed offsets of group %s; look at it again without --execute", gone, *a.ExpectIndex, shown(group))
	}
	return nil
}

// noKey is a key that nobody uses.
func noKey(group, topic string) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, QueueID: math.MaxInt32}}
}

// topicsOf are the topics of keys.
func topicsOf(states []offset.KeyedState) map[string]bool {
	topics := make(map[string]bool)
	for i := range states {
		topics[states[i].Key.Topic] = true
	}
	return topics
}
