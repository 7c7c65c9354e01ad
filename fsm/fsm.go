package fsm

import (
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// Config configures an FSM. The callbacks are called on raft's FSM goroutine and must
// return at once; AuditQueue.Offer does.
type Config struct {
	// Cluster is the cluster whose entries and snapshots are taken; those of
	// another are refused. Required.
	Cluster offset.ClusterID
	// Audit gets a Record for each act, Set, step of an import and change of
	// the level, when it has been applied and published. Nil: none is made.
	Audit func(Record)
	// Checkpoint gets the digest at each checkpoint entry. May be nil.
	Checkpoint func(index uint64, d offset.Digest)
	// Configuration gets each committed configuration of the cluster. May be nil.
	Configuration func(index uint64, c raft.Configuration)
	// Logger takes messages about a latch and about restores; nil for none.
	Logger hclog.Logger
}

// FSM is the replicated state machine. The package comment says which goroutine calls what.
type FSM struct {
	config Config
	logger hclog.Logger

	// table is replaced by Restore. Its Root is for every goroutine, all else
	// of it for raft's FSM goroutine.
	table   atomic.Pointer[table.Table]
	latch   latch
	waiters waiters
	// applying is the index of the entry that ApplyBatch came to last.
	applying atomic.Uint64

	// For raft's FSM goroutine.
	decoder entry.Decoder
	changes table.Changes
}

var (
	_ raft.BatchingFSM        = (*FSM)(nil)
	_ raft.ConfigurationStore = (*FSM)(nil)
)

// New returns an FSM that holds nothing.
func New(c Config) *FSM {
	f := &FSM{config: c, logger: c.Logger}
	if f.logger == nil {
		f.logger = hclog.NewNullLogger()
	}
	f.latch.failed = make(chan struct{})
	f.table.Store(table.New(c.Cluster))
	return f
}

// Root returns the newest published state. It is immutable, and may be kept.
func (f *FSM) Root() *table.Root { return f.table.Load().Root() }

// Index is the raft index of the last entry that the published state holds:
// a command, or a configuration that made a member's announcement vanish.
func (f *FSM) Index() uint64 { return f.Root().Index() }

// Applying is the index of the entry that Apply or ApplyBatch is at, of the one it
// came to last while neither runs. Any goroutine may look at it.
func (f *FSM) Applying() uint64 { return f.applying.Load() }

// Failed is closed when the FSM latches, since an entry could not be decoded
// or applied. From then on entries change nothing, and snapshots and restores
// are refused: this node's state can't be trusted to be what the cluster's is.
func (f *FSM) Failed() <-chan struct{} { return f.latch.failed }

// Err is nil until the FSM latches, and then the cause. It wraps
// offset.ErrLevel if the entry was written by a newer build.
func (f *FSM) Err() error { return f.latch.err() }
