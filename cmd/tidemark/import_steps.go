package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// importing drives one import to its end, from the start or from where an
// earlier run left it.
type importing struct {
	s *session
	// word names it: "import", or "restore".
	word   string
	chunks *chunks
	// base is the base of a swap; 0: read just before it is sent.
	base uint64
	// what is the import without a step.
	what offset.Import
	// act has the id, base and cluster that all steps carry.
	act offset.Act
	// resumed is the first chunk that this run sent.
	resumed uint32

	changed, kept, index uint64
}

// run finds out where the import is, and does the rest.
func (i *importing) run() error {
	next, done, err := i.begin()
	if err != nil || done {
		return err
	}
	i.resumed = next
	if next > 0 {
		i.s.note("going on with the %s %s at chunk %d of %d", i.word, i.act.ID, next, i.what.Chunks)
	}
	if done, err = i.send(next); err != nil || done {
		return err
	}
	return i.swap()
}

// begin takes over the import under way if it is this one, or begins one.
func (i *importing) begin() (next uint32, done bool, err error) {
	st, err := i.s.leaderStatus()
	if err != nil {
		return 0, false, err
	}
	i.act = offset.Act{ID: newID(), Base: st.Meta.Index, Cluster: st.Meta.Cluster}
	if im := st.Import; im != nil {
		if im.ID.IsZero() {
			return 0, false, offset.Errorf(offset.ErrImportBusy, "it is at chunk %d of %d; those alone go on with it who have the right to admin on all that it may touch", im.Next, im.Chunks)
		}
		if im.Hash != i.what.Hash || im.Mode != i.what.Mode || im.Group != i.what.Group || im.Chunks != i.what.Chunks {
			return 0, false, offset.Errorf(offset.ErrImportBusy, "%s of a file with the hash %s is at chunk %d of %d", im.ID, hex.EncodeToString(im.Hash[:8]), im.Next, im.Chunks)
		}
		i.act.ID, i.act.Base = im.ID, im.Base
	}
	r, err := i.step(offset.ImportBegin, 0, i.act.Base)
	if err != nil {
		return 0, false, fmt.Errorf("beginning the %s: %w", i.word, err)
	}
	return r.Next, r.Done, nil
}

// send sends the chunks from next on; done tells that the last one ended it.
func (i *importing) send(next uint32) (done bool, err error) {
	bar := i.s.bar(i.word, int(i.what.Chunks))
	_ = bar.Set(int(next))
	for next < i.what.Chunks {
		r, err := i.step(offset.ImportChunk, next, i.act.Base)
		if err != nil {
			return false, i.stopped(next, err)
		}
		if r.Done {
			_ = bar.Finish()
			return true, nil
		}
		if r.Next <= next {
			return false, i.stopped(next, fmt.Errorf("the cluster expects chunk %d after chunk %d", r.Next, next))
		}
		_ = bar.Add(int(r.Next - next)) // a bar that does not draw is no reason to stop
		next = r.Next
	}
	return false, nil
}

// swap puts what was staged in its place.
func (i *importing) swap() error {
	if i.what.Mode != offset.ImportReplace {
		return nil
	}
	base, err := i.base, error(nil)
	if base == 0 {
		var m offset.Meta
		m, err = i.s.now()
		base = m.Index
	}
	if err == nil {
		_, err = i.step(offset.ImportSwap, 0, base)
	}
	if err != nil {
		return i.stopped(i.what.Chunks, fmt.Errorf("putting the content in place: %w", err))
	}
	return nil
}

// step sends one step.
func (i *importing) step(step offset.ImportStep, chunk uint32, base uint64) (offset.ActResult, error) {
	im := i.what
	im.Step = step
	if step == offset.ImportChunk {
		im.Chunk, im.Targets = chunk, i.chunks.targets(chunk)
	}
	a := i.act
	a.Base, a.Import = base, &im
	r, err := i.s.act(a)
	if err == nil && step != offset.ImportBegin {
		i.changed, i.kept, i.index = r.Changed, r.Kept, r.Index
	}
	return r, err
}

// stopped tells how far the import is and how it goes on.
func (i *importing) stopped(next uint32, err error) error {
	state := "nothing of it is visible yet"
	if i.what.Mode == offset.ImportMerge {
		state = "what came before stays"
	}
	err = fmt.Errorf("the %s stopped before chunk %d of %d, %s; run the same command again to go on there, or drop it with \"tidemark import --abort --execute\": %w", i.word, next, i.what.Chunks, state, err)
	if errors.Is(err, context.Canceled) {
		return &exitError{exitPartial, err}
	}
	return err
}

// now reads where the cluster is, linearizably.
func (s *session) now() (offset.Meta, error) {
	p, err := s.listPage(offset.List{What: offset.ListGroups, Limit: 1})
	return p.Meta, err
}

// leaderStatus asks the leader how it sees the cluster.
func (s *session) leaderStatus() (offset.Status, error) {
	m, err := s.now()
	if err != nil {
		return offset.Status{}, err
	}
	ctx, cancel := s.call()
	defer cancel()
	st, err := s.Status(ctx, m.Leader)
	if err == nil && st.Meta.Index < m.Index {
		st.Meta.Index = m.Index
	}
	return st, err
}
