package table

// What a table takes of memory, in bytes, for names of 40 bytes; as measured by
// TestBytesAreTheHeaps. docs/sizing.md has the same figures.
const (
	bytesOfQueue = 33  // a position, and the room for three more at the end of a run
	bytesOfPair  = 210 // a topic of a group on a broker: its run, its name, its places in two trees
	bytesOfPlace = 310 // a group on a broker: its part, its name, its places in two trees and a map
)

// Bytes is about how much memory the root's keys take, with what an import has
// staged. Longer names add to it, and so does what older roots hold that are
// still read.
func (r *Root) Bytes() uint64 { return r.live.bytes() + r.staged.bytes() }

func (v *view) bytes() uint64 {
	return bytesOfQueue*v.queues + bytesOfPair*uint64(v.pairs) + bytesOfPlace*uint64(v.places)
}
