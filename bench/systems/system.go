// Package systems runs the stores that are compared, each as three processes
// (RocketMQ's broker is one) on this machine, and does work on them through the client that each one's
// authors offer. A store is a file that implements System and is named in All.
//
// Every system keeps the same: offsets of consumers, each under the four names
// of Key. What a write has to survive before it is answered is part of a
// system's description, and so of every figure's name.
package systems

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Nodes is how many processes a system has.
const Nodes = 3

// Op is what a request does.
type Op string

// The requests.
const (
	// Write stores offsets; it is answered once they are as durable as About says.
	Write Op = "write"
	// Read asks for one offset, with the strongest guarantee that the system offers.
	Read Op = "read"
	// ReadGroup asks for all offsets of one group.
	ReadGroup Op = "read group"
)

// Work is what callers do over and over, each with one request under way.
type Work struct {
	Op Op `json:"op"`
	// Callers is how many callers there are.
	Callers int `json:"callers"`
	// Batch is how many offsets a request writes, or how many a group has that is read.
	Batch int `json:"batch"`
	// Separate gives each caller a client of its own; else all share one.
	Separate bool `json:"separate,omitempty"`
	// OneGroup has the offsets of all callers in one group: where each group has
	// a leader of its own, a kill concerns all of them then.
	OneGroup bool `json:"one_group,omitempty"`
	// Way is how a batch is sent where a system has several; empty is the usual one.
	Way string `json:"way,omitempty"`
}

// String describes the batch of a Work.
func (w Work) String() string {
	text := fmt.Sprintf("%d callers, %d a request", w.Callers, w.Batch)
	if w.Way != "" {
		text += ", " + w.Way
	}
	return text
}

// Load does the requests of one Work.
type Load interface {
	// Do does one request of a caller (from 0) and returns once it is answered.
	// Each caller calls it from one goroutine at a time. After an error the
	// request may or may not have been done.
	Do(ctx context.Context, caller int) error
	// Close ends the clients. Nobody may be in Do.
	Close() error
}

// ErrNotOffered is what Workload gives for work that a system has no way to do,
// and Kill where nobody takes over. The system has no such row then.
var ErrNotOffered = errors.New("the system offers nothing for this")

// Durability says what is true of an answer.
type Durability struct {
	// Write is what has happened before a write is answered, Read how fresh a
	// read is.
	Write string `json:"write"`
	Read  string `json:"read"`
}

// Of is what counts for a kind of request.
func (d Durability) Of(op Op) string {
	if op == Write {
		return d.Write
	}
	return d.Read
}

// System is a store. Its methods are called by one
// goroutine, in this order: Start, then any of Workload, Kill with Revive, at
// last Stop, also after a failure of Start.
type System interface {
	// Durability is what its answers mean as it is set up here.
	Durability() Durability
	// Batches are the ways to write many offsets that are tried for its best.
	Batches() []Work
	// Start starts the processes on an empty folder and waits until they serve.
	Start(ctx context.Context, dir string) error
	// Workload makes the clients for a work, and writes what it reads or overwrites.
	Workload(ctx context.Context, w Work) (Load, error)
	// Kill ends the process that leads with SIGKILL, and tells when.
	Kill(ctx context.Context) (time.Time, error)
	// Revive starts the killed process again, and waits until it takes part.
	Revive(ctx context.Context) error
	// Stop ends all processes.
	Stop() error
}

// Restarter is a system whose recovery is measured.
type Restarter interface {
	System
	// Restart ends all processes with SIGKILL at once, starts them again, and
	// tells when it began to start them. It does not wait until they serve, and
	// Workload may be called by several goroutines at once until it succeeds.
	Restart() (time.Time, error)
}
