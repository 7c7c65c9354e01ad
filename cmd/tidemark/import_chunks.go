package main

import (
	"math/bits"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// Bounds of a chunk of an import: what it takes in the log, and what the
// message takes, which names each key in full.
const (
	chunkEntry   = 128 << 10
	chunkMessage = offset.MaxMessage / 2
)

// entryCost is how many offsets an entry of the file (a group's part of a
// topic at a broker) stands for in the bound of offset.MaxCommits a chunk: to
// make a group costs the table that much more than to raise an offset. A chunk
// so makes at most 1,250 groups, which keeps its Apply below 50 ms also on a
// machine that three members share.
const entryCost = 8

// chunks parts the offsets of a file. The same file gives the same chunks, so
// that an import can be continued.
type chunks struct {
	file *offsetfile.File
	// starts is where each chunk begins; the last is the end.
	starts []place
}

// place is an offset in a file: queue number queue of entry number entry.
type place struct{ entry, queue int }

// cut plans the chunks.
func cut(f *offsetfile.File) *chunks {
	c := &chunks{file: f}
	var entry, message, n int // n counts offsets, and what entries stand for
	for i := range f.Entries {
		e := &f.Entries[i]
		names := len(e.Group) + len(e.Topic) + len(e.Broker) + 12
		for j, q := range e.Queues {
			size := varint(uint64(q.ID)) + varint(uint64(q.Offset)) + 1
			cost := 1
			if n == 0 || j == 0 {
				cost = entryCost
			}
			if n == 0 || n+cost > offset.MaxCommits || entry+names+size > chunkEntry || message+names+size+8 > chunkMessage {
				c.starts = append(c.starts, place{i, j})
				entry, message, n, cost = 0, 0, 0, entryCost
			}
			if cost == entryCost {
				entry += names
			}
			entry += size
			message += names + size + 8
			n += cost
		}
	}
	c.starts = append(c.starts, place{entry: len(f.Entries)})
	return c
}

// varint is how many bytes a number takes at base 128.
func varint(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// count is the number of chunks.
func (c *chunks) count() uint32 { return uint32(len(c.starts) - 1) }

// targets gives the offsets of one chunk.
func (c *chunks) targets(n uint32) []offset.Target {
	var list []offset.Target
	to := c.starts[n+1]
	for p := c.starts[n]; p != to; {
		e := &c.file.Entries[p.entry]
		q := e.Queues[p.queue]
		list = append(list, offset.Target{
			Key:    offset.Key{Group: e.Group, MessageQueue: offset.MessageQueue{Topic: e.Topic, Broker: e.Broker, QueueID: q.ID}},
			Offset: q.Offset,
		})
		if p.queue++; p.queue == len(e.Queues) {
			p = place{entry: p.entry + 1}
		}
	}
	return list
}
