package verify

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
)

// partTime is how long porcupine may take for one part.
const partTime = 20 * time.Second

// step is one operation of a part: what it can make of a cell, none if it can't
// have been answered so there.
type step struct {
	ops  []*record.Op
	what string
	from func(c cell) []cell
}

// model is the sequential model of a part: what an operation can do is in it.
func (p *part) model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init:              func() []any { return []any{p.first()} },
		Step:              func(state, input, _ any) []any { return untyped(input.(*step).from(state.(cell))) },
		Equal:             func(a, b any) bool { return a.(cell) == b.(cell) },
		Hash:              func(s any) uint64 { return hash(s.(cell)) },
		DescribeOperation: func(input, _ any) string { return input.(*step).what },
		DescribeState:     func(s any) string { return s.(cell).String() },
	}
	return m.ToModel()
}

func untyped(list []cell) []any {
	out := make([]any, len(list))
	for i, c := range list {
		out[i] = c
	}
	return out
}

// Linear has porcupine look for an order of all that was done with each queue,
// in all groups of its topic, that the rule allows and that keeps to the order in
// which calls were made and answered. It knows no log and no indexes but those
// that answers name as epochs.
func Linear(h *record.History, c *Counts) error {
	parts, err := split(h)
	if err != nil {
		return err
	}
	results := make([]porcupine.CheckResult, len(parts))
	var all sync.WaitGroup
	next := make(chan int, len(parts))
	for i := range parts {
		next <- i
	}
	close(next)
	for range max(1, min(2, runtime.GOMAXPROCS(0))) {
		all.Go(func() {
			for i := range next {
				results[i] = porcupine.CheckOperationsTimeout(parts[i].model(), parts[i].operations(), partTime)
			}
		})
	}
	all.Wait()
	for i, p := range parts {
		c.Parts++
		c.Operations += len(p.steps)
		switch results[i] {
		case porcupine.Illegal:
			return &Violation{
				Check: "linearizable", Keys: p.keys(),
				Text: fmt.Sprintf("no order of the %d operations on %s, groups %q, explains their answers", len(p.steps), p.keys()[0], p.groups),
			}
		case porcupine.Unknown:
			c.Open++
		}
	}
	return nil
}

// operations are those of the part for porcupine, in the order of their calls.
func (p *part) operations() []porcupine.Operation {
	end := p.last + 1
	var list []porcupine.Operation
	for _, s := range p.steps {
		o := porcupine.Operation{ClientId: s.client, Input: &s.step, Call: int64(s.call), Return: int64(s.returned)}
		if s.open {
			o.Return = int64(end)
		}
		list = append(list, o)
	}
	slices.SortStableFunc(list, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return list
}

// Draw draws the first part of a history that no order explains, or else the
// first that holds one of the keys that a violation names, as a page for a
// browser. The error says that there is no such part.
func Draw(h *record.History, about *Violation, path string) error {
	parts, err := split(h)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if about == nil || len(about.Keys) == 0 || !slices.ContainsFunc(about.Keys, p.has) {
			continue
		}
		return p.draw(h, path)
	}
	return errors.New("the history has no part to draw")
}

func (p *part) draw(h *record.History, path string) (err error) {
	_, info := porcupine.CheckOperationsVerbose(p.model(), p.operations(), partTime)
	var notes []porcupine.Annotation
	for _, e := range h.Events {
		if e.End >= p.begin && e.At <= p.last {
			notes = append(notes, porcupine.Annotation{Tag: "faults", Start: int64(e.At), End: int64(e.End), Description: e.Text})
		}
	}
	info.AddAnnotations(notes)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return porcupine.Visualize(p.model(), info, io.Writer(f))
}
