package node

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
)

// machine is the FSM with a watch on how long it holds raft's FSM goroutine.
type machine struct {
	*fsm.FSM
	// busy is when the call that runs now began, Unix nanoseconds; 0 for none.
	busy atomic.Int64
	// longest and total are durations of Apply, bytes what was applied.
	longest, total atomic.Int64
	bytes          atomic.Int64
	// taking is the longest that capturing a snapshot took, restoring the longest
	// that restoring one did.
	taking, restoring atomic.Int64
	// taken is when the newest entries were taken up, free when what came before
	// them had ended.
	taken, free marks
	// ended is when the last call ended; for raft's FSM goroutine.
	ended time.Time
	// refused is why a snapshot was not restored, nil if none was refused.
	refused atomic.Pointer[error]
}

// Apply applies one entry.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch applies entries and notes how long that took.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	began := time.Now()
	m.busy.Store(began.UnixNano())
	first, last := logs[0].Index, logs[len(logs)-1].Index
	m.free.note(first, last, m.ended)
	m.taken.note(first, last, began)
	answers := m.FSM.ApplyBatch(logs)
	m.busy.Store(0)
	m.total.Add(m.since(began, &m.longest))
	n := 0
	for _, l := range logs {
		n += len(l.Data)
	}
	m.bytes.Add(int64(n))
	return answers
}

// Restore restores a snapshot, and remembers why it could not: raft reports only
// that it could not.
func (m *machine) Restore(r io.ReadCloser) error {
	began := time.Now()
	err := m.FSM.Restore(r)
	m.since(began, &m.restoring)
	if err != nil {
		m.refused.CompareAndSwap(nil, &err)
	}
	return err
}

// Snapshot captures the state and notes how long that kept Apply waiting.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	began := time.Now()
	s, err := m.FSM.Snapshot()
	m.since(began, &m.taking)
	return s, err
}

// since ends a call on raft's FSM goroutine, and returns how long it took, which
// longest is raised to.
func (m *machine) since(began time.Time, longest *atomic.Int64) (took int64) {
	m.ended = time.Now()
	took = int64(m.ended.Sub(began))
	if took > longest.Load() {
		longest.Store(took) // this goroutine is the only writer
	}
	return took
}

// replayRate is how many bytes of log a second this member applies, 0 while
// too little has been applied to know. Reading the log takes as long again.
func (m *machine) replayRate() float64 {
	bytes, took := m.bytes.Load(), time.Duration(m.total.Load())
	if bytes < 16<<20 || took <= 0 {
		return 0
	}
	return float64(bytes) / took.Seconds() / 2
}

var (
	_ raft.BatchingFSM        = (*machine)(nil)
	_ raft.ConfigurationStore = (*machine)(nil)
)
