package bin

import "encoding/binary"

// Zigzag maps small numbers of either sign to small unsigned ones.
func Zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// Unzigzag undoes Zigzag.
func Unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// AppendVarint appends a number of either sign.
func AppendVarint(b []byte, v int64) []byte { return binary.AppendUvarint(b, Zigzag(v)) }

// AppendBool appends a byte that is 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// UvarintLen is the number of bytes that v takes as a number of variable length.
func UvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// SharedLen is the length of what a and b begin with alike.
func SharedLen(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
