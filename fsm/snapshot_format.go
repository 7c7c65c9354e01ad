package fsm

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// A snapshot is a head, blocks, and the end, which is a block as well. The
// byte table is in docs/formats.md. What never changes: the head, the frame of
// a block with its sum, and the numbers of the kinds.
const (
	snapshotMagic   = "TIDESNAP"
	snapshotHeadLen = 32 // magic 8, level 1, zero 3, cluster 16, sum 4
	headLevelAt     = 8
	headClusterAt   = 12
	headSumAt       = 28

	frameLen = 5 // kind 1, length of the content 4
	sumLen   = 4
)

// Kinds of blocks.
const (
	blockState   = 1 // the numbers of table.Rest; the first block, and once
	blockFloors  = 2
	blockClaims  = 3
	blockActs    = 4
	blockImport  = 5
	blockMembers = 6
	blockRuns    = 7
	blockEnd     = 8 // the last
)

const (
	// fullBlock is the length from which on a block is written out.
	fullBlock = 256 << 10
	// maxBlock is the longest block that is read: fullBlock and the largest
	// part that may follow what didn't fill it.
	maxBlock = 1 << 20
)

// Bits of a run's first byte.
const (
	runStaged = 1
	runBased  = 2
)

// Low bits of a queue's first number.
const (
	queuePending = 1
	queueBased   = 2 // index, epoch and time are those of the base
)

// Bits of a remembered act.
const (
	actDone  = 1
	actBegun = 2
	actSeen  = 4
)

// endLen is the length of the content of the end.
const endLen = 5*8 + 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockSum covers a block's number, counted from 0, its frame and its content,
// so that no block can be moved, doubled or left out unseen.
func blockSum(number uint64, frameAndContent []byte) uint32 {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], number)
	return crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, frameAndContent)
}

func snapshotDamaged(format string, args ...any) error {
	return offset.Errorf(offset.ErrDamaged, "snapshot: "+format, args...)
}

// SnapshotEnd is what the end of a snapshot says of it.
type SnapshotEnd struct {
	// Blocks is how many blocks come before it, Runs how many runs of queues
	// they hold, Queues how many of those queues are the table's and Staged
	// how many the import's under way.
	Blocks, Runs, Queues, Staged uint64
	// Index is that of the state, Digest its digest.
	Index  uint64
	Digest offset.Digest
}

// count adds a run.
func (e *SnapshotEnd) count(t *table.TopicState) {
	e.Runs++
	if t.Staged {
		e.Staged += uint64(len(t.Queues))
	} else {
		e.Queues += uint64(len(t.Queues))
	}
}
