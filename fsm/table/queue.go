package table

import "github.com/tidemark-mq/tidemark/offset"

// queue is one stored position in 32 bytes: an offset, and in three words index
// and epoch of 56 bits, time of 48, queue id of 31 and the mark. At a million
// entries a second the indexes last for two thousand years.
//
//	x: index 56 | time 47..40
//	y: epoch 56 | time 39..32
//	z: time 31..0 | mark 1 | id 31
type queue struct {
	offset  int64
	x, y, z uint64
}

const (
	// maxIndex is the highest index that a position can hold, maxTime the latest time.
	maxIndex = 1<<56 - 1
	maxTime  = 1<<48 - 1

	markBit = 1 << 31
	maxID   = 1<<31 - 1
)

// fields is a queue unpacked. Index 0 means "as the base": index, epoch and time
// are those of the newest replace that brought the key in.
type fields struct {
	id      int32
	pending bool
	offset  int64
	index   uint64
	epoch   uint64
	time    int64
}

func pack(f fields) queue {
	t := uint64(f.time)
	q := queue{
		offset: f.offset,
		x:      f.index<<8 | t>>40,
		y:      f.epoch<<8 | t>>32&0xff,
		z:      t<<32 | uint64(uint32(f.id)),
	}
	return q.marked(f.pending)
}

func (q *queue) id() int32     { return int32(q.z & maxID) }
func (q *queue) pending() bool { return q.z&markBit != 0 }
func (q *queue) index() uint64 { return q.x >> 8 }
func (q *queue) epoch() uint64 { return q.y >> 8 }
func (q *queue) time() int64   { return int64(q.x&0xff<<40 | q.y&0xff<<32 | q.z>>32) }

// marked returns q with the mark set or not.
func (q queue) marked(pending bool) queue {
	q.z &^= markBit
	if pending {
		q.z |= markBit
	}
	return q
}

func (q *queue) position(base Stamp) offset.Position {
	p := offset.Position{Offset: q.offset, Index: q.index(), Epoch: q.epoch(), Time: q.time(), Pending: q.pending()}
	if p.Index == 0 {
		p.Index, p.Epoch, p.Time = base.Index, base.Index, base.Time
	}
	return p
}
