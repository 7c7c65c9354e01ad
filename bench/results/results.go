// Package results is what passes between the program that compares and the
// one that drives a system: jobs go to it as one JSON document, results come
// back as one JSON line each, and are kept as they came.
package results

import (
	"time"

	"github.com/tidemark-mq/tidemark/bench/systems"
)

// Kind is how a cell is measured.
type Kind string

// The kinds.
const (
	// Rate counts offsets a second, and how long requests took.
	Rate Kind = "rate"
	// Open begins half as many requests as a Rate reached, whether or not they
	// are answered; times count from when a request was due.
	Open Kind = "open"
	// Gap measures how long writes stop after kills of the leader, in seconds.
	Gap Kind = "gap"
	// Tune is a Rate that only chooses the batch of a later one.
	Tune Kind = "tune"
	// Size tells how many bytes the data takes on the disk, of all processes.
	Size Kind = "size"
	// NodeBack kills the leader and measures how long it takes from its start
	// until it takes part again, in seconds.
	NodeBack Kind = "node back"
	// AllBack kills all processes and measures how long it takes from their
	// start until a write of a new client is answered, in seconds.
	AllBack Kind = "all back"
)

// Unit is what values of the kind count.
func (k Kind) Unit() string {
	switch k {
	case Gap, NodeBack, AllBack:
		return "s"
	case Size:
		return "bytes"
	default:
		return "offsets/s"
	}
}

// Cell is one thing to measure.
type Cell struct {
	// Row names it in the table, together with the system.
	Row  string       `json:"row"`
	Kind Kind         `json:"kind"`
	Work systems.Work `json:"work"`
	// Kills is how often the leader, or all, are killed; for Gap, NodeBack and
	// AllBack.
	Kills int `json:"kills,omitempty"`
}

// Fill is what a system stores before anything is measured.
type Fill struct {
	// Work is how, Offsets how many are written in all: each key again and again.
	Work    systems.Work `json:"work"`
	Offsets int          `json:"offsets"`
}

// Job is what one process drives: a system, started anew, and cells in their order.
type Job struct {
	// Label tells systems of one name apart, System says which it is.
	Label    string           `json:"label"`
	System   string           `json:"system"`
	Programs systems.Programs `json:"programs"`
	// Dir is an empty folder for data and logs.
	Dir   string `json:"dir"`
	Round int    `json:"round"`
	// Heat is how long the system is loaded before anything counts, so that what
	// compiles while it runs has done so.
	Heat time.Duration `json:"heat,omitempty"`
	// Fill comes before the cells; the zero value is nothing.
	Fill  Fill   `json:"fill"`
	Cells []Cell `json:"cells"`
	// Warm is how long a Rate runs before For, the time that counts.
	Warm time.Duration `json:"warm"`
	For  time.Duration `json:"for"`
}

// Result is what a cell gave in one round.
type Result struct {
	Label string `json:"label"`
	Round int    `json:"round"`
	Cell
	// Durability is what an answer means.
	Durability string `json:"durability"`
	// Values are one rate (of an Open the one that was offered) or size, or what
	// followed each kill; none if the system does not offer the work, or was left
	// out.
	Values []float64 `json:"values"`
	// P50, P99 and Most are of the time that a request took; not of a Gap.
	P50  time.Duration `json:"p50,omitempty"`
	P99  time.Duration `json:"p99,omitempty"`
	Most time.Duration `json:"most,omitempty"`
	// Failed counts requests that gave an error, and Failure is the last one.
	Failed  int    `json:"failed,omitempty"`
	Failure string `json:"failure,omitempty"`
	// LeftOut is why the cell was not measured in this round: the system could
	// not be made ready for it, or failed, several times. Empty if it was.
	LeftOut string `json:"left_out,omitempty"`
}
