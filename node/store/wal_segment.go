package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/hashicorp/raft-wal/types"
)

// The format of a segment, which raft-wal writes: a head of 32 bytes, and frames,
// each with a head of 8 bytes and padded to a multiple of 8. A batch is frames of
// entries up to a commit frame, which has the sum of all since the last one.
const (
	segmentMagic   = 0x58eb6b0d
	segmentHeadLen = 32
	frameHeadLen   = 8

	frameEntry  = 1
	frameIndex  = 2
	frameCommit = 3

	// sectorBytes is what a disk writes whole or not at all.
	sectorBytes = 512
)

// segment is what a segment file holds, as far as it is whole.
type segment struct {
	info types.SegmentInfo
	data []byte
	// entries are the payloads of what was committed, from info.BaseIndex on.
	entries [][]byte
	// end is where the last whole batch ends, 0 before the first.
	end int
	// index is where the index array begins, if the last batch closed the segment.
	index int
}

// last is the highest index in it; BaseIndex - 1 if it has none.
func (s *segment) last() uint64 { return s.info.BaseIndex + uint64(len(s.entries)) - 1 }

// errSegment is what is wrong with a segment; its text says it.
func errSegment(text string) error { return errors.New(text) }

// readSegment reads batch after batch. What follows the last whole one is looked
// at by whoever knows whether the segment is the log's end.
func readSegment(info types.SegmentInfo, data []byte) (*segment, error) {
	s := &segment{info: info, data: data}
	pos, start := segmentHeadLen, 0
	for {
		end, index, entries, ok := readBatch(data, pos, start)
		if !ok {
			return s, nil
		}
		if s.end == 0 {
			if err := checkSegmentHead(info, data); err != nil {
				return nil, err
			}
		}
		if s.index > 0 {
			return nil, errSegment("something was written behind its index")
		}
		s.entries, s.end, s.index = append(s.entries, entries...), end, index
		pos, start = end, end
	}
}

func checkSegmentHead(info types.SegmentInfo, data []byte) error {
	le := binary.LittleEndian
	if le.Uint64(data) != segmentMagic || le.Uint64(data[8:]) != info.BaseIndex || le.Uint64(data[16:]) != info.ID || le.Uint64(data[24:]) != info.Codec {
		return errSegment("its head is not the one that it was made with")
	}
	return nil
}

// readBatch reads the frames from pos up to a commit frame whose sum, of all from
// start on, is right.
func readBatch(data []byte, pos, start int) (end, index int, entries [][]byte, ok bool) {
	for {
		kind, n, next := readFrame(data, pos)
		switch {
		case next == 0:
			return 0, 0, nil, false
		case kind == frameCommit:
			return next, index, entries, crc32.Checksum(data[start:pos], castagnoli) == uint32(n)
		case next > len(data):
			return 0, 0, nil, false
		case kind == frameEntry:
			entries = append(entries, data[pos+frameHeadLen:pos+frameHeadLen+n])
		default:
			index = pos + frameHeadLen
		}
		pos = next
	}
}

// readFrame reads a frame's head: its kind, length or sum, and where the next
// frame begins, which may be beyond the end of data. next is 0 for no frame.
func readFrame(data []byte, pos int) (kind byte, n, next int) {
	if pos+frameHeadLen > len(data) || data[pos+1]|data[pos+2]|data[pos+3] != 0 {
		return 0, 0, 0
	}
	kind, n = data[pos], int(binary.LittleEndian.Uint32(data[pos+4:]))
	switch kind {
	case frameEntry, frameIndex:
		return kind, n, pos + frameHeadLen + (n+7)&^7
	case frameCommit:
		return kind, n, pos + frameHeadLen
	}
	return 0, 0, 0
}

// torn reports whether what follows the last whole batch of the log's end is what a
// crash leaves of the one batch that was being written, and of nothing that was
// acknowledged. Segments are new files, so what did not reach the disk reads as
// zeros, sector by sector. A batch that is there to its end, and whose sum is
// wrong all the same, is damage; so is whatever a second batch has left.
func (s *segment) torn() bool {
	rest := len(bytes.TrimRight(s.data, "\x00"))
	rest = (rest + 7) &^ 7
	if rest <= s.end {
		return true // nothing follows
	}
	if len(s.data)%frameHeadLen != 0 {
		return false // it was made in full, and grows by whole frames: it was cut off
	}
	for at := s.end; at < rest; {
		next := min((at/sectorBytes+1)*sectorBytes, rest)
		if len(bytes.Trim(s.data[at:next], "\x00")) == 0 {
			return !s.wholeFrom(next, rest) // a sector is missing in the middle
		}
		at = next
	}
	return !s.complete(rest) && s.cutShort(rest)
}

// wholeFrom reports whether a whole batch begins within the sectors from a place on,
// which is so only if the one before it had been written to its end. Where the
// frames begin is not known there, so every place is tried that a commit frame
// may stand before.
func (s *segment) wholeFrom(from, rest int) bool {
	for at := from; at < rest; at += frameHeadLen {
		if kind, _, next := readFrame(s.data, at); kind == frameCommit {
			if _, _, entries, ok := readBatch(s.data, next, next); ok && len(entries) > 0 {
				return true
			}
		}
	}
	return false
}

// complete reports whether the batch is there to its end, which is its sum: by the
// kind of the last frame, or because the sum is right and the kind is not.
func (s *segment) complete(rest int) bool {
	at := rest - frameHeadLen
	if kind, _, next := readFrame(s.data, at); kind == frameCommit && next == rest {
		return true
	}
	return at >= s.end && crc32.Checksum(s.data[s.end:at], castagnoli) == binary.LittleEndian.Uint32(s.data[at+4:])
}

// cutShort reports whether frames follow one another from the last whole batch on,
// and the last of them needs a sector that is not there.
func (s *segment) cutShort(rest int) bool {
	cut := (rest + sectorBytes - 1) / sectorBytes * sectorBytes
	for pos := max(s.end, segmentHeadLen); pos < cut; {
		kind, _, next := readFrame(s.data, pos)
		if next == 0 || kind == frameCommit || pos+frameHeadLen < min(cut, len(s.data)) && s.data[pos+frameHeadLen] == 0 {
			return false // neither an entry nor an index begins with a zero
		}
		pos = next
	}
	return true
}
