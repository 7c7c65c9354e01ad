package fsm

import (
	"context"
	"io"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// Config says for whom an FSM works. The callbacks are called on raft's FSM
// goroutine and must return at once; AuditQueue.Offer does.
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
	// Logger is told of a latch and of restores; nil for none.
	Logger hclog.Logger
}

// FSM is the replicated state machine. See the package comment for who calls what.
type FSM struct {
	config Config
	root   *table.Root
}

var (
	_ raft.BatchingFSM        = (*FSM)(nil)
	_ raft.ConfigurationStore = (*FSM)(nil)
)

// New returns an FSM that holds nothing.
func New(c Config) *FSM { return &FSM{config: c} }

// Root returns the newest published state. It is immutable, and may be kept.
func (f *FSM) Root() *table.Root { return f.root }

// Index is the raft index of the last entry that the published state holds:
// a command, or a configuration that made a member's announcement vanish.
func (f *FSM) Index() uint64 { return 0 }

// Wait returns nil once Index is at least index, ctx's cause when that is done
// first, or Err when the FSM has latched. Wait only for an index that an
// Answers or a leader's Index named: raft has entries that no FSM ever sees.
func (f *FSM) Wait(ctx context.Context, index uint64) error { return ctx.Err() }

// Failed is closed when the FSM latches: an entry could not be decoded or
// applied, or a snapshot restored that raft then relies on. From then on
// entries change nothing, and snapshots and restores are refused.
func (f *FSM) Failed() <-chan struct{} { return nil }

// Err is nil until the FSM latches, and then the cause.
func (f *FSM) Err() error { return nil }

// Apply applies one committed entry and publishes the state. The result is an *Answers.
func (f *FSM) Apply(l *raft.Log) any { return &Answers{} }

// ApplyBatch applies committed entries in their order and publishes the state
// once. Each result is an *Answers; that of a configuration is nil.
func (f *FSM) ApplyBatch(logs []*raft.Log) []any { return make([]any, len(logs)) }

// StoreConfiguration takes a committed configuration where raft does not bring
// it through ApplyBatch.
func (f *FSM) StoreConfiguration(index uint64, c raft.Configuration) {}

// Snapshot captures the published state, which costs no more than a load.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) { return nil, offset.ErrDamaged }

// Restore replaces the state by that of a snapshot, once the whole of it has
// been read and its counts and digest match; else nothing changes. The error
// wraps offset.ErrDamaged, ErrForeignCluster or ErrLevel.
func (f *FSM) Restore(r io.ReadCloser) error { return offset.ErrDamaged }
