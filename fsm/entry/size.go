package entry

import (
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// exactFrom is the bound from which on a request is measured: below it an
// estimate will do.
const exactFrom = 64 << 10

// Size returns how much of an entry r takes, before it is added.
//
// Up to 64 KiB it is a bound: the entry that holds r alone is no longer, and r
// makes no entry longer by more; mostly it is far less. Above, it is the
// length of the entry that holds r alone, if r is for the cluster that the
// entry is for; in company r adds about as much. MaxEntry+1 is the size of a
// large request that can't be written; of a small one only Add finds out.
func Size(r *Request) int {
	if n := bound(r); n <= exactFrom {
		return n
	}
	return exact(r)
}

// The most that parts of a request take.
const (
	maxRef    = 3 // a reference: an entry has not room for 2 million names
	maxLen    = 2 // what a name shares, and what follows
	maxNumber = 10
	maxQueue  = 5 + 2*maxNumber // id, offset, epoch
	// maxFrame is the head, the counts of the tables and of the requests.
	maxFrame = headLen + 4*maxRef + 3
	// maxFirst is the first byte of a request and a cluster.
	maxFirst = 1 + 16
)

// bound is the most that r takes, without looking for names that are the same.
func bound(r *Request) int {
	n := maxFrame + maxFirst + boundOf(r.Principal) + boundOf(r.From)
	switch {
	case r.Commits != nil:
		return n + boundOfCommits(r.Commits)
	case r.Set != nil:
		k := &r.Set.Key
		return n + boundOf(k.Group) + boundOf(k.Topic) + boundOf(k.Broker) + maxQueue + 2*maxNumber
	case r.Member != nil:
		return n + boundOf(r.Member.ID) + boundOf(r.Member.API) + 1
	case r.Act != nil:
		return MaxEntry
	}
	return n + boundOf(r.Forget) + 1
}

func boundOfCommits(c *offset.Commits) int {
	n := maxRef
	var group, broker string
	for i := range c.Topics {
		t := &c.Topics[i]
		n += maxRef + boundOf(t.Topic) + len(t.Queues)*maxQueue
		if t.Group != group {
			n, group = n+boundOf(t.Group), t.Group
		}
		if t.Broker != broker {
			n, broker = n+boundOf(t.Broker), t.Broker
		}
	}
	return n
}

// boundOf is the most that a name and a reference to it take.
func boundOf(name string) int { return maxRef + 2*maxLen + len(name) }

// scratch holds Builders for exact.
var scratch = sync.Pool{New: func() any { return new(Builder) }}

func exact(r *Request) int {
	b := scratch.Get().(*Builder)
	defer scratch.Put(b)
	defer b.Reset()
	b.cluster = clusterOf(r)
	if b.Add(r) != nil {
		return MaxEntry + 1
	}
	return b.Len()
}

// clusterOf is the cluster that the request names, zero if it names none.
func clusterOf(r *Request) offset.ClusterID {
	switch {
	case r.Commits != nil:
		return r.Commits.Cluster
	case r.Set != nil:
		return r.Set.Cluster
	case r.Act != nil:
		return r.Act.Cluster
	}
	return offset.ClusterID{}
}
