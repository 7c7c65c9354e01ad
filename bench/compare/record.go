package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/bench/results"
)

// line is one line of a record; one of its fields is there.
type line struct {
	Plan   *Plan           `json:"plan,omitempty"`
	Result *results.Result `json:"result,omitempty"`
	Disk   *Disk           `json:"disk,omitempty"`
}

// Record is what was measured so far, in a file that grows by a line with each
// result, so that a comparison that was ended goes on where it was.
type Record struct {
	Plan    Plan
	Results []results.Result
	Disks   []Disk

	file *os.File
}

// recordName is the record's file in the folder of a comparison.
const recordName = "record.jsonl"

// openRecord goes on with the comparison in a folder if it is this one and not
// whole. Else it moves what is there aside, and begins anew; aside is where to.
func openRecord(dir string, plan Plan) (r *Record, aside string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	path := filepath.Join(dir, recordName)
	r, err = readRecord(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && r.Plan.same(plan) && !r.whole():
		r.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
		return r, "", err
	default:
		aside = dir + "-" + plan.Began.Format("20060102-150405")
		if err := errors.Join(os.Rename(dir, aside), os.Mkdir(dir, 0o700)); err != nil {
			return nil, "", err
		}
	}
	r = &Record{Plan: plan}
	if r.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return nil, aside, err
	}
	return r, aside, r.write(line{Plan: &plan})
}

// readRecord reads a record. A last line that is torn is cut off: its cell is
// measured again.
func readRecord(path string) (*Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(text, '\n') + 1; end < len(text) {
		if err := os.Truncate(path, int64(end)); err != nil {
			return nil, err
		}
		text = text[:end]
	}
	r := &Record{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.keep(l)
	}
	if r.Plan.Rounds == 0 {
		return nil, fmt.Errorf("%s begins without a plan", path)
	}
	return r, nil
}

func (r *Record) keep(l line) {
	switch {
	case l.Plan != nil:
		r.Plan = *l.Plan
	case l.Result != nil:
		r.Results = append(r.Results, *l.Result)
	case l.Disk != nil:
		r.Disks = append(r.Disks, *l.Disk)
	}
}

// write adds a line and keeps what it says.
func (r *Record) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := r.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	if l.Plan == nil {
		r.keep(l)
	}
	return nil
}

// Close closes the file.
func (r *Record) Close() error { return r.file.Close() }

// has tells whether a cell was measured in a round.
func (r *Record) has(label string, round int, c results.Cell) bool {
	for _, have := range r.Results {
		if have.Label == label && have.Round == round && have.Row == c.Row && (c.Kind != results.Tune || have.Work == c.Work) {
			return true
		}
	}
	return false
}

// lacks are those of the cells that were not measured in a round.
func (r *Record) lacks(label string, round int, cells []results.Cell) (list []results.Cell) {
	for _, c := range cells {
		if !r.has(label, round, c) {
			list = append(list, c)
		}
	}
	return list
}

// whole tells whether all of the plan was measured.
func (r *Record) whole() bool {
	for _, s := range r.Plan.Subjects {
		for round := range r.Plan.Rounds {
			if len(r.lacks(s.Label, round, r.Plan.Cells)) > 0 {
				return false
			}
		}
		if r.Plan.recovers(s) && len(r.lacks(s.Label, afterRound, r.Plan.After)) > 0 {
			return false
		}
	}
	return true
}
