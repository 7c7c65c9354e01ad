package franzgo

import (
	"math"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// part is one partition from where it was placed once: a move or a new
// assignment makes another. So a record that is Done late counts for the
// place it was polled at, and for no other.
type part struct {
	c     *Consumer
	mq    offset.MessageQueue
	queue *client.ProcessQueue[struct{}]

	// Of the Consumer's lock: when it is to be moved, and why; zero for not at
	// all. fresh: it is fixed, and kgo has not been told of it.
	due   time.Time
	why   error
	fresh bool

	mu     sync.Mutex // guards paused, together with the calls that make it so
	paused bool
}

// newPart makes a partition that takes records.
func (c *Consumer) newPart(mq offset.MessageQueue) *part {
	opts := append(c.cfg.Queue[:len(c.cfg.Queue):len(c.cfg.Queue)],
		client.WithCommitTo(c.store, mq),
		client.WithCapacity(math.MaxInt), // what was polled must be taken: else it would be skipped. Pausing bounds it
	)
	return &part{c: c, mq: mq, queue: client.NewProcessQueue[struct{}](opts...)}
}

// put takes records that were polled, none if the partition is not ours any
// more, and pauses fetching if that makes too many.
func (p *part) put(list []*kgo.Record) (took bool) {
	flight := make([]client.InFlight[struct{}], len(list))
	for i, r := range list {
		flight[i].Offset = r.Offset
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.queue.Put(flight...); err != nil {
		return false
	}
	p.queue.Pulled()
	if !p.paused && p.full() {
		p.paused = true
		p.c.kafka.PauseFetchPartitions(p.fetch())
	}
	return true
}

// done completes a record, and fetches on if there is room again.
func (p *part) done(next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Complete(next)
	if p.paused && !p.full() {
		p.resumeLocked()
	}
}

// end drops the partition: nothing of it reaches the store any more.
func (p *part) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Drop()
	if p.paused {
		p.resumeLocked() // kgo would keep the pause for a later assignment
	}
}

// rest ends the partition and has kgo leave it alone, until it begins anew.
func (p *part) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Drop()
	p.paused = true
	p.c.kafka.PauseFetchPartitions(p.fetch())
}

func (p *part) resumeLocked() {
	p.paused = false
	p.c.kafka.ResumeFetchPartitions(p.fetch())
}

func (p *part) full() bool {
	s := p.queue.State()
	return s.TooWide || s.TooMany
}

// fetch names the partition as kgo does.
func (p *part) fetch() map[string][]int32 { return map[string][]int32{p.mq.Topic: {p.mq.QueueID}} }

// queueOf names a partition as Tidemark does.
func queueOf(topic string, partition int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: topic, QueueID: partition}
}
