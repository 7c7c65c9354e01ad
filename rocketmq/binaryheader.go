package rocketmq

import "encoding/binary"

// A binary header ("ROCKETMQ"), in the order of its bytes, numbers big-endian:
//
//	2  code
//	1  language
//	2  version
//	4  opaque
//	4  flag
//	4  length of the remark
//	   remark
//	4  length of the fields
//	   fields, each: 2 length of the name, name, 4 length of the value, value
//
// A name may come twice, and the last counts: senders of some versions write
// each field two times.
const binaryFixed = 2 + 1 + 2 + 4 + 4

// decodeBinary reads a binary header.
func decodeBinary(b []byte) (h header, err error) {
	if len(b) < binaryFixed {
		return h, damaged("a binary header of %d bytes is too short", len(b))
	}
	h.Code = int(int16(binary.BigEndian.Uint16(b)))
	h.Version = int(int16(binary.BigEndian.Uint16(b[3:])))
	h.Opaque = int32(binary.BigEndian.Uint32(b[5:]))
	h.Flag = int32(binary.BigEndian.Uint32(b[9:]))
	remark, b, ok := part(b[binaryFixed:], 4)
	if !ok {
		return h, damaged("a binary header whose remark goes beyond it")
	}
	h.Remark = string(remark)
	fields, b, ok := part(b, 4)
	if !ok || len(b) > 0 {
		return h, damaged("a binary header whose fields do not end with it")
	}
	h.Fields, err = decodeFields(fields)
	return h, err
}

func decodeFields(b []byte) (map[string]string, error) {
	if len(b) == 0 {
		return nil, nil
	}
	fields := map[string]string{}
	for len(b) > 0 {
		name, rest, ok := part(b, 2)
		if !ok {
			return nil, damaged("a binary header with the name of a field that goes beyond it")
		}
		value, rest, ok := part(rest, 4)
		if !ok {
			return nil, damaged("a binary header with the value of a field that goes beyond it")
		}
		fields[string(name)] = string(value)
		b = rest
	}
	return fields, nil
}

// part parts b into what a length of width bytes (2 or 4) at its front
// announces, and the rest. ok is false if b does not have as much.
func part(b []byte, width int) (head, rest []byte, ok bool) {
	if len(b) < width {
		return nil, nil, false
	}
	n := int64(binary.BigEndian.Uint16(b))
	if width == 4 {
		n = int64(int32(binary.BigEndian.Uint32(b)))
	}
	b = b[width:]
	if n < 0 || n > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
