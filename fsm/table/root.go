package table

import "github.com/tidemark-mq/tidemark/offset"

// Root is the whole state at one index. It never changes; any number of
// goroutines may read it for as long as they like. Holding one keeps the memory
// of what has changed since.
type Root struct {
	index uint64
}

// Index is the index of the last entry begun before it was published; 0 before
// the first.
func (r *Root) Index() uint64 { return r.index }

// Time is the time of that entry, Unix milliseconds, never less than that of one before.
func (r *Root) Time() int64 { return 0 }

// LastAct is the index of the last act of any kind that took effect; 0 if none has.
func (r *Root) LastAct() uint64 { return 0 }

// Level is the format level in use.
func (r *Root) Level() uint8 { return 0 }

// Cluster is the cluster the state belongs to.
func (r *Root) Cluster() offset.ClusterID { return offset.ClusterID{} }

// Digest covers all that a snapshot of the root holds, index and time included.
func (r *Root) Digest() offset.Digest { return offset.Digest{} }

// Groups counts the groups that have an offset.
func (r *Root) Groups() uint64 { return 0 }

// Queues counts the offsets.
func (r *Root) Queues() uint64 { return 0 }

// Members are those that have announced themselves, in the order of their ids.
// The slice must not be changed.
func (r *Root) Members() []offset.Member { return nil }

// Import is the import under way, nil if there is none. It must not be changed.
func (r *Root) Import() *offset.ImportStatus { return nil }

// Claims lists the newest claim of each scope, groups first, then brokers, each
// in the order of their names.
func (r *Root) Claims() []Claim { return nil }

// Get returns the state of one key.
func (r *Root) Get(k offset.Key) offset.KeyState { return offset.KeyState{} }

// List returns one page. Of its Meta, only Cluster, Index and LastAct are set.
func (r *Root) List(l *offset.List) offset.Page { return offset.Page{} }

// Walk yields every row of ListKeys from l.After on, in key order, whatever
// l.Limit is, until yield returns false. l.What is not looked at.
func (r *Root) Walk(l *offset.List, yield func(offset.KeyedState) bool) {}
