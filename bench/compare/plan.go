package main

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// Plan is all that a comparison measures, and of what.
type Plan struct {
	// Size names how much is measured.
	Size string `json:"size"`
	// Seed draws the orders, Began is when it began; two plans that differ in
	// these alone are one.
	Seed  uint64    `json:"seed"`
	Began time.Time `json:"began"`

	Rounds int           `json:"rounds"`
	Warm   time.Duration `json:"warm"`
	For    time.Duration `json:"for"`
	// TuneFor is what For is while batches are tried.
	TuneFor  time.Duration  `json:"tune_for"`
	Subjects []Subject      `json:"subjects"`
	Cells    []results.Cell `json:"cells"`
	// After are cells that are measured once after all rounds, of the systems in
	// Recovering, which store Fill before.
	After      []results.Cell `json:"after"`
	Recovering []string       `json:"recovering"`
	Fill       results.Fill   `json:"fill"`
	Machine    Machine        `json:"machine"`
}

// bestBatch is the row whose work is chosen by trying.
const bestBatch = "best batch"

// size is how much is measured.
type size struct {
	rounds, kills      int
	warm, long, tuning time.Duration
	systems            []string
	cells              []results.Cell
	// stored is how many offsets the systems in recovering store before that is
	// measured of them.
	stored     int
	recovering []string
}

func rate(row string, w systems.Work) results.Cell {
	return results.Cell{Row: row, Kind: results.Rate, Work: w}
}

func write(callers, batch int) systems.Work {
	return systems.Work{Op: systems.Write, Callers: callers, Batch: batch}
}

// usual are the rows of every comparison.
var usual = []results.Cell{
	rate("one offset a request, 1 caller", write(1, 1)),
	rate("one offset a request, 64 callers of one client", write(64, 1)),
	rate("one offset a request, 256 callers of one client", write(256, 1)),
	rate(bestBatch, systems.Work{Op: systems.Write}),
	rate("reads of one offset, 64 callers of one client", systems.Work{Op: systems.Read, Callers: 64, Batch: 1}),
}

// further are the rows of the full comparison beside them.
var further = []results.Cell{
	rate("one offset a request, 256 clients", systems.Work{Op: systems.Write, Callers: 256, Batch: 1, Separate: true}),
	rate("100 offsets a request, 16 callers of one client", write(16, 100)),
	rate("1,000 offsets a request, 8 callers of one client", write(8, 1000)),
	rate("10,000 offsets a request, 4 callers of one client", write(4, 10_000)),
	rate("reads of one offset, 1 caller", systems.Work{Op: systems.Read, Callers: 1, Batch: 1}),
	{Row: "open loop at half of its peak, one offset a request, 256 callers of one client", Kind: results.Open, Work: write(256, 1)},
	rate("reads of whole groups of 1,000 offsets, 16 callers of one client", systems.Work{Op: systems.ReadGroup, Callers: 16, Batch: 1000}),
}

// after are the rows of recovery, after so many offsets.
func after(stored, kills int) []results.Cell {
	name, w := "after "+thousands(float64(stored))+" commits: ", systems.Work{Op: systems.Write}
	return []results.Cell{
		{Row: name + "on the disk, all three together", Kind: results.Size, Work: w},
		{Row: name + "from the start of a node that was killed until it takes part", Kind: results.NodeBack, Kills: kills, Work: w},
		{Row: name + "from the start of all three, killed at once, to an answered commit", Kind: results.AllBack, Kills: kills, Work: w},
	}
}

// sizes by name. The times are such that the short one ends within 3 minutes,
// the usual one within 30, and the full one within two hours and a quarter, building apart.
var sizes = map[string]size{
	"short": {rounds: 3, kills: 1, warm: 250 * time.Millisecond, long: time.Second, tuning: 400 * time.Millisecond,
		systems: []string{"tidemark", "etcd", "nats"}, cells: usual},
	"usual": {rounds: 5, kills: 4, warm: time.Second, long: 5 * time.Second, tuning: 3 * time.Second,
		systems: []string{"tidemark", "etcd", "nats"}, cells: usual},
	"full": {rounds: 5, kills: 4, warm: time.Second, long: 5 * time.Second, tuning: 4 * time.Second,
		systems: []string{"tidemark", "tidemark-wal", "bare", "bare-wal", "etcd", "nats", "nats-default", "redis", "kafka", "kafka-default", "rocketmq"},
		cells:   append(append([]results.Cell{}, usual...), further...), stored: 10_000_000, recovering: []string{"tidemark", "tidemark-wal", "etcd", "nats"}},
}

// gapRow is the row of the kills.
const gapRow = "gap after kill -9 of the leader"

func newPlan(name string, seed uint64, subjects []Subject, m Machine) (Plan, error) {
	s, ok := sizes[name]
	if !ok {
		return Plan{}, fmt.Errorf("no size is called %q", name)
	}
	cells := append(append([]results.Cell{}, s.cells...), results.Cell{
		Row: gapRow, Kind: results.Gap, Kills: s.kills, Work: systems.Work{Op: systems.Write, Callers: 256, Batch: 1, OneGroup: true},
	})
	p := Plan{
		Size: name, Seed: seed, Began: time.Now().UTC().Truncate(time.Second), Rounds: s.rounds, Warm: s.warm, For: s.long, TuneFor: s.tuning,
		Subjects: subjects, Cells: cells, Machine: m,
	}
	if s.stored > 0 {
		p.After, p.Recovering = after(s.stored, 3), s.recovering
		p.Fill = results.Fill{Work: write(16, 1000), Offsets: s.stored}
	}
	return p, nil
}

// recovers tells whether a subject has the cells after all rounds.
func (p Plan) recovers(s Subject) bool { return slices.Contains(p.Recovering, s.System) }

// same tells whether two plans measure the same: programs are told by their
// bytes, not by what they are called.
func (p Plan) same(q Plan) bool {
	return reflect.DeepEqual(p.bare(), q.bare())
}

// bare is the plan without what may differ.
func (p Plan) bare() Plan {
	p.Seed, p.Began, p.Subjects = 0, time.Time{}, slices.Clone(p.Subjects)
	for i := range p.Subjects {
		p.Subjects[i].Title = ""
	}
	return p
}

// order draws an order for something in a round: the same for a seed, whenever
// it is asked for.
func (p Plan) order(n, round, what int) []int {
	return rand.New(rand.NewPCG(p.Seed, uint64(round)<<16|uint64(what))).Perm(n)
}
