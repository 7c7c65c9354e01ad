package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/offset"
)

// The fixed head of an entry; the byte table is in docs/formats.md.
const (
	magic0, magic1 = 'T', 'E'

	levelAt   = 2
	kindAt    = 3
	clusterAt = 4
	timeAt    = 20
	headLen   = 28
)

// kindRequests is the only kind of entry there is: a table of names, and
// requests that refer to it.
const kindRequests = 1

// Kinds of requests, in the low four bits of a request's first byte. A number
// is never used for anything else.
const (
	kindCommits    = 1
	kindSet        = 2
	kindAct        = 3
	kindAnnounce   = 4
	kindForget     = 5
	kindLevel      = 6
	kindCheckpoint = 7

	kindMask = 0x0f
)

// Flags, in the high four bits of a request's first byte.
const (
	flagSameCaller  = 0x80 // principal and address are those of the request before
	flagForeign     = 0x40 // a cluster id follows, since it is not the entry's
	flagAtomic      = 0x20 // commits: all or none
	flagOperator    = 0x20 // set: an operator's
	flagReplaces    = 0x10 // set: the key had an offset
	flagsOfCommits  = flagSameCaller | flagForeign | flagAtomic
	flagsOfSet      = flagSameCaller | flagForeign | flagOperator | flagReplaces
	flagsOfAct      = flagSameCaller | flagForeign
	flagsOfAllOther = flagSameCaller
)

// Kinds of acts.
const (
	actReset  = 1
	actRemove = 2
	actClone  = 3
	actExpire = 4
	actTake   = 5
	actImport = 6
)

// Low bits of the number that begins a topic.
const (
	otherGroup  = 2 // a reference to the group follows
	otherBroker = 1 // a reference to the broker follows
)

// Flags of a scope.
const (
	scopeBroker = 1
	scopeQueue  = 2
)

// The shortest that a part can be: what a count is checked against before
// memory is made for it.
const (
	minName   = 2
	minTopic  = 2
	minQueue  = 2
	minIdle   = 2
	minTarget = 2
)

func putTime(b []byte, timeMS int64) { binary.BigEndian.PutUint64(b, uint64(timeMS)) }

func invalid(format string, args ...any) error {
	return offset.Errorf(offset.ErrInvalid, format, args...)
}
