package main

import (
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/results"
)

// Summary is a comparison in figures.
type Summary struct {
	Plan  Plan   `json:"plan"`
	Disks []Disk `json:"disks"`
	Rows  []Row  `json:"rows"`
}

// Row is what one system gave for one work.
type Row struct {
	Row        string `json:"row"`
	Label      string `json:"label"`
	Title      string `json:"title"`
	Durability string `json:"durability"`
	// Work tells callers and batch.
	Work string       `json:"work"`
	Kind results.Kind `json:"kind"`
	// Unit is of the figures: offsets/s, s or bytes.
	Unit   string    `json:"unit"`
	Median float64   `json:"median"`
	Least  float64   `json:"least"`
	Most   float64   `json:"most"`
	Values []float64 `json:"values"`
	// P50 and P99 are the medians of the rounds'.
	P50 time.Duration `json:"p50,omitempty"`
	P99 time.Duration `json:"p99,omitempty"`
	// Times is how many times better the first system of the plan is: the
	// median of the ratios of each round, or of what is better the less it is the
	// ratio of the medians; 0 of the first itself, of an Open, whose rates are chosen, and where it
	// cannot be told.
	Times float64 `json:"times,omitempty"`
	// Failed counts requests that gave an error, in all rounds.
	Failed int `json:"failed,omitempty"`
	// LeftOut says of rounds in which it was not measured why.
	LeftOut []string `json:"left_out,omitempty"`
}

// summarize makes rows of all results, in the order of the plan's cells and subjects.
func summarize(r *Record) Summary {
	s := Summary{Plan: r.Plan, Disks: r.Disks}
	for _, cell := range slices.Concat(r.Plan.Cells, r.Plan.After) {
		var first []results.Result
		for i, subject := range r.Plan.Subjects {
			list, out := r.of(subject.Label, cell)
			if i == 0 {
				first = list
			}
			if len(list)+len(out) == 0 {
				continue
			}
			row := rowOf(subject, list, out)
			if i > 0 && cell.Kind != results.Open {
				row.Times = times(cell.Kind, first, list)
			}
			s.Rows = append(s.Rows, row)
		}
	}
	return s
}

// of are the results of a cell, one a round, in the order of rounds, and those
// that say why it was left out of a round; none of what the system does not offer.
func (r *Record) of(label string, cell results.Cell) (list, out []results.Result) {
	for _, have := range r.Results {
		switch {
		case have.Label != label || have.Row != cell.Row || have.Kind != cell.Kind:
		case have.LeftOut != "":
			out = append(out, have)
		case len(have.Values) > 0:
			list = append(list, have)
		}
	}
	slices.SortStableFunc(list, func(a, b results.Result) int { return a.Round - b.Round })
	return list, out
}

func rowOf(subject Subject, list, out []results.Result) Row {
	any := slices.Concat(list, out)[0]
	row := Row{
		Row: any.Row, Label: subject.Label, Title: subject.Title, Durability: any.Durability,
		Work: any.Work.String(), Kind: any.Kind, Unit: any.Kind.Unit(),
	}
	for _, r := range out {
		row.LeftOut = append(row.LeftOut, roundName(r.Round)+": "+r.LeftOut)
	}
	if len(list) == 0 {
		return row
	}
	var p50, p99 latency.Sorted
	for _, r := range list {
		row.Values = append(row.Values, r.Values...)
		row.Failed += r.Failed
		p50, p99 = append(p50, r.P50), append(p99, r.P99)
	}
	row.Median, row.Least, row.Most = latency.Median(row.Values), slices.Min(row.Values), slices.Max(row.Values)
	row.P50, row.P99 = middle(p50), middle(p99)
	return row
}

// times is how many times better first is.
func times(kind results.Kind, first, other []results.Result) float64 {
	if kind.Unit() != results.Rate.Unit() {
		return ratio(latency.Median(values(other)), latency.Median(values(first)))
	}
	var list []float64
	for _, a := range first {
		for _, b := range other {
			if a.Round == b.Round && b.Values[0] > 0 {
				list = append(list, ratio(a.Values[0], b.Values[0]))
			}
		}
	}
	return latency.Median(list)
}

func values(list []results.Result) (all []float64) {
	for _, r := range list {
		all = append(all, r.Values...)
	}
	return all
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// middle is the median, between two the mean of both, as it is written.
func middle(list latency.Sorted) time.Duration {
	slices.Sort(list)
	if len(list) == 0 {
		return 0
	}
	return latency.Round((list[(len(list)-1)/2] + list[len(list)/2]) / 2)
}
