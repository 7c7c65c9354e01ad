package store

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

// LogStore is how a store keeps the log's entries. Term and vote are kept by
// boltdb with either.
type LogStore string

// The log stores. A folder keeps the one it was made with.
const (
	// LogBoltDB keeps entries in raft-boltdb's one file.
	LogBoltDB LogStore = "boltdb"
	// LogWAL keeps them in raft-wal's segments.
	LogWAL LogStore = "wal"
)

// defaultLogStore and defaultSegmentBytes are variables for this package's tests.
var (
	defaultLogStore     = LogBoltDB
	defaultSegmentBytes = 64 << 20
)

// The defaults of Config.
const (
	DefaultHangAfter     = 10 * time.Second
	DefaultKeepSnapshots = 2
	DefaultSyncEvery     = 4 << 20
	DefaultPace          = 64 << 20
	DefaultCacheEntries  = 1024
	DefaultCacheBytes    = 64 << 20
	DefaultMinFree       = 4 << 20
)

// Config says where a Store lives and how it works. Only Dir is required; a
// zero field has its default.
type Config struct {
	// Dir is the folder of the store. It is made, 0700, if it does not exist.
	Dir string
	// Member is the member id the folder belongs to. It is noted at creation;
	// a folder noted for another member is refused. Empty: not checked.
	Member string
	// LogStore is what the folder is made with; one that was made with the other
	// is refused. Default LogBoltDB.
	LogStore LogStore
	// SegmentBytes is about how large a segment of LogWAL gets, for which the room
	// must be there from its beginning. Default 64 MiB.
	SegmentBytes int
	// MustExist refuses to make a store: set it where the member is known to
	// have run before, so that a vanished folder is an error and no empty start.
	MustExist bool
	// Logger gets what an operator should know. Nil: nothing is logged.
	Logger hclog.Logger

	// HangAfter is how long one write to the disk may take before it counts as
	// failed, in the guard's own ticks: a pause of the whole process, or of
	// its machine, is no hang.
	HangAfter time.Duration
	// KeepSnapshots is how many good snapshots are kept, at least 1.
	KeepSnapshots int
	// SyncEvery is after how many bytes a snapshot being written is synced.
	SyncEvery int
	// Pace is the most bytes a second at which this member's own snapshots are
	// written, so that the log's writes keep the disk. A snapshot that the
	// leader installs is not paced: nothing else is written meanwhile.
	// Negative: no bound.
	Pace int
	// CacheEntries and CacheBytes bound the newest entries kept in memory, for
	// the followers that read them next. Whichever is reached first.
	CacheEntries int
	CacheBytes   int
	// MinFree is how many bytes must be free on the file system for Open to
	// succeed: a member that cannot write must not come back into the vote.
	// Negative: not checked.
	MinFree int64

	// OnWrite gets each write of log, term and vote: how long it took and how many
	// bytes of entries or values it carried. It is called on raft's goroutines and
	// must not block. Nil: not called.
	OnWrite func(d time.Duration, bytes int)
	// OnDamage gets the error of a snapshot found damaged while the store is in use;
	// the member should take a new one. It must not block. Nil: only logged.
	OnDamage func(error)

	// Unsafe switches remedies off. For tests only.
	Unsafe Unsafe
}

// Unsafe switches off, one by one, what keeps a member's disk right, so that a
// test can show the fault that each remedy is for. For tests only: with any of them
// set acknowledged offsets can be lost. The zero value is the safe one.
type Unsafe struct {
	// SplitVote stores the term and the candidate of a vote in two writes, as
	// raft asks for them: a crash in between leaves a vote that was never given.
	SplitVote bool
	// SlicedSuffix deletes a suffix of the log in slices, lowest index first,
	// as it is right for a prefix: a crash in between leaves a gap.
	SlicedSuffix bool
	// NoGuard continues to write after a write has failed, and never notices one
	// that hangs.
	NoGuard bool
	// NoInstallGuard keeps a log that contradicts an installed snapshot.
	NoInstallGuard bool
	// Fault is called before each change of the disk, with the guard watching.
	// An error stands for the write's failure, blocking for a disk that hangs.
	Fault func(op Op) error
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	setDefault(&c.LogStore, defaultLogStore)
	setDefault(&c.SegmentBytes, defaultSegmentBytes)
	setDefault(&c.HangAfter, DefaultHangAfter)
	setDefault(&c.KeepSnapshots, DefaultKeepSnapshots)
	setDefault(&c.SyncEvery, DefaultSyncEvery)
	setDefault(&c.Pace, DefaultPace)
	setDefault(&c.CacheEntries, DefaultCacheEntries)
	setDefault(&c.CacheBytes, DefaultCacheBytes)
	setDefault(&c.MinFree, DefaultMinFree)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
