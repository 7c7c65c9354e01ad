package main

import (
	"errors"
	"fmt"

	"github.com/tidemark-mq/tidemark/fsm/backup"
	state "github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// restoreCmd brings a backup back.
type restoreCmd struct {
	File         string `arg:"" help:"What \"cluster backup\" has written, of this cluster or of another." placeholder:"FILE"`
	AllowRemoval bool   `help:"Let it remove offsets that the backup does not have."`
	execute
	ExpectIndex *uint64 `help:"Refuse (exit code 4) if any act has moved offsets since that index, such as the one that a run without --execute named. Commits are not acts: what consumers commit meanwhile is replaced." placeholder:"INDEX"`
}

// restoreResult is what a restore did or would do.
type restoreResult struct {
	Backup *backupFacts `json:"backup"`
	// ClusterID is the cluster that is asked. Foreign: the backup is another's.
	ClusterID string      `json:"clusterId"`
	Foreign   bool        `json:"foreign"`
	Would     *difference `json:"would"`
	// First are the first keys that are moved or removed, by what becomes of them.
	First    []fate `json:"first"`
	Executed bool   `json:"executed"`
	// Of a restore that was done: its id, the number of its chunks and the one
	// that it went on at, and the index of the entry that put it in place.
	ActID    string `json:"actId,omitempty"`
	Chunks   uint32 `json:"chunks"`
	Resumed  uint32 `json:"resumed,omitempty"`
	ActIndex uint64 `json:"actIndex,string,omitempty"`
}

func (r *restoreResult) table(t *table) {
	t.line("%s: %d bytes, id %s", r.Backup.File, r.Backup.Bytes, r.Backup.ID)
	r.Backup.facts(t)
	if r.Foreign {
		t.line("it is of ANOTHER cluster than this, %s", r.ClusterID)
	}
	d := r.Would
	t.line("against index %d: %d lowered, %d raised, %d new, %d the same, %d REMOVED since the backup does not have them", d.Index, d.Lowers, d.Raises, d.Creates, d.Same, d.Removes)
	if len(r.First) > 0 {
		t.row("", "GROUP", "TOPIC", "BROKER", "QUEUE", "BEFORE", "AFTER")
	}
	for i := range r.First {
		r.First[i].row(t)
	}
	if r.Executed {
		t.line("restored at index %d by act %s; running consumers are fenced, and restart at what the backup has", r.ActIndex, r.ActID)
		return
	}
	t.line("all that the cluster has would be replaced, and running consumers fenced; nothing was done yet, add --execute%s, and --expect-index %d to do it only if no act comes before",
		map[bool]string{true: " --allow-removal"}[d.Removes > 0], d.Index)
}

// Run reads the backup whole, compares it, and then shows or does the restore.
func (c *restoreCmd) Run(s *session) error {
	b, err := readBackup(c.File)
	if err != nil {
		return err
	}
	f := offsetsOf(b.Root)
	r := &restoreResult{Backup: factsOf(c.File, b), First: []fate{}}
	tell := newFates(&r.First)
	if r.Would, err = s.compareAll(f, tell.tell); err != nil {
		return err
	}
	r.ClusterID, r.Foreign = r.Would.cluster.String(), r.Would.cluster != b.Root.Cluster()
	if err := c.refuse(r); err != nil {
		return err
	}
	if c.Execute {
		if err := c.restore(s, b, f, r); err != nil {
			return err
		}
	}
	return s.print(r)
}

// refuse says why the restore is not done as it was asked for.
func (c *restoreCmd) refuse(r *restoreResult) error {
	d := r.Would
	if e := c.ExpectIndex; e != nil && *e > d.Index {
		return offset.Errorf(offset.ErrInvalid, "--expect-index %d is beyond this cluster's state, which is at %d", *e, d.Index)
	}
	if c.ExpectIndex != nil && d.lastAct > *c.ExpectIndex {
		return exitf(exitRefused, "an act at index %d has moved offsets since index %d (audit.log says who); look again without --execute", d.lastAct, *c.ExpectIndex)
	}
	if c.Execute && d.Removes > 0 && !c.AllowRemoval {
		return exitf(exitRefused, "the restore would remove %s that the backup does not have; look at it without --execute, and add --allow-removal if that is what you want", plural(d.Removes, "offset", "offsets"))
	}
	return nil
}

// restore stages the backup and puts it in place, unless an act came in between:
// what was shown, or allowed, is what was there at the index compared with.
func (c *restoreCmd) restore(s *session, b *backup.Backup, f *offsetfile.File, r *restoreResult) error {
	i := &importing{s: s, word: "restore", chunks: cut(f), base: r.Would.Index, what: offset.Import{Mode: offset.ImportReplace, Hash: b.ID, Offsets: uint64(f.Offsets())}}
	if c.ExpectIndex != nil {
		i.base = *c.ExpectIndex
	}
	i.what.Chunks = i.chunks.count()
	err := i.run()
	r.Executed, r.ActID, r.Chunks, r.Resumed, r.ActIndex = err == nil, i.act.ID.String(), i.what.Chunks, i.resumed, i.index
	if errors.Is(err, offset.ErrSuperseded) {
		return exitf(exitRefused, "not restored: somebody moved offsets after index %d, which the restore was decided by (audit.log says who). Nothing has changed; the backup stays staged. Look again without --execute, then run it again, or drop it with `tidemark import --abort --execute`", i.base)
	}
	return err
}

// offsetsOf gives the offsets of a state as a file has them.
func offsetsOf(root *state.Root) *offsetfile.File {
	f := &offsetfile.File{}
	// The visitor never fails, and runs come in the order of a file's entries.
	_ = root.Topics(func(t *state.TopicState) error {
		if t.Staged {
			return nil
		}
		n := len(f.Entries) - 1
		if n < 0 || f.Entries[n].Group != t.Group || f.Entries[n].Topic != t.Topic || f.Entries[n].Broker != t.Broker {
			f.Entries = append(f.Entries, offsetfile.Entry{Group: t.Group, Topic: t.Topic, Broker: t.Broker})
			n++
		}
		for _, q := range t.Queues {
			f.Entries[n].Queues = append(f.Entries[n].Queues, offsetfile.Queue{ID: q.QueueID, Offset: q.Offset})
		}
		return nil
	})
	return f
}

// fate is what becomes of one key.
type fate struct {
	// What is "lowered", "raised", "new" or "removed".
	What   string `json:"what"`
	Group  string `json:"group"`
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
	// Before and After are nil where there is no offset.
	Before *int64 `json:"before,string"`
	After  *int64 `json:"after,string"`
}

func (f *fate) row(t *table) {
	t.row(f.What, shown(f.Group), shown(f.Topic), shown(f.Broker), num(f.Queue), orNone(f.Before), orNone(f.After))
}

// mostFates is how many keys of each kind are named.
const mostFates = 5

// fates keeps the first of each kind.
type fates struct {
	list *[]fate
	of   map[string]int
}

func newFates(list *[]fate) *fates { return &fates{list, map[string]int{}} }

func (f *fates) tell(k offset.Key, before, after *int64) {
	what := "lowered"
	switch {
	case before == nil:
		what = "new"
	case after == nil:
		what = "removed"
	case *after > *before:
		what = "raised"
	case *after == *before:
		return
	}
	if f.of[what]++; f.of[what] <= mostFates {
		*f.list = append(*f.list, fate{what, k.Group, k.Topic, k.Broker, k.QueueID, before, after})
	}
}

// compareAll compares a file with all that the cluster has, and tells each key,
// with its offset before and after a replace by the file.
func (s *session) compareAll(f *offsetfile.File, tell func(k offset.Key, before, after *int64)) (*difference, error) {
	d, err := s.compareWith(f, "", tell)
	if err != nil {
		return nil, fmt.Errorf("comparing with the cluster: %w", err)
	}
	return d, nil
}
