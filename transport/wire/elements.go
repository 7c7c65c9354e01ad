package wire

import (
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// shape is what a kind of message may hold of other messages: at the number of each
// such field the shape of those, else nil. A message that holds none is not nil, but empty.
type shape []shape

// shapes has the shape of each kind of message that was asked for, by its descriptor.
var shapes sync.Map

// Elements counts the messages within b, an encoded message of the kind of m,
// without decoding it and without allocating; it stops once there are more than
// most. An empty message takes two bytes, and a hundred once it is decoded: so
// what a decoded message takes is bounded by its bytes and its elements. What
// follows a byte that cannot be read is not counted, as it is not decoded.
func Elements(m proto.Message, b []byte, most int) int {
	return most - shapeOf(m.ProtoReflect().Descriptor()).count(b, most)
}

func shapeOf(d protoreflect.MessageDescriptor) shape {
	if s, ok := shapes.Load(d); ok {
		return s.(shape)
	}
	s := shape{}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.Message() == nil {
			continue
		}
		for len(s) <= int(f.Number()) {
			s = append(s, nil)
		}
		s[f.Number()] = shapeOf(f.Message()) // no message holds its own kind
	}
	shapes.Store(d, s)
	return s
}

// count gives what is left of left, -1 if b has more messages.
func (s shape) count(b []byte, left int) int {
	for len(b) > 0 && left >= 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return left
		}
		b = b[n:]
		if kind != protowire.BytesType || int(number) >= len(s) || s[number] == nil {
			if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
				return left
			}
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return left
		}
		b, left = b[n:], left-1
		if len(s[number]) > 0 && left >= 0 {
			left = s[number].count(v, left)
		}
	}
	return left
}
