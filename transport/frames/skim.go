package frames

import (
	"bufio"
	"encoding/binary"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// skim reads a message that there is no room for to its end, of which left bytes are
// still to come, and gives m the ids of its calls, so that each can be refused and
// the stream continues. It takes no memory except for these.
func (f *framed) skim(m proto.Message, left int) error {
	rest := &io.LimitedReader{R: f.r, N: int64(left)}
	r := bufio.NewReader(io.MultiReader(&f.in, rest))
	calls, err := idsOf(r, f.Calls)
	if _, broke := io.Copy(io.Discard, r); broke != nil || rest.N > 0 {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return offset.Errorf(offset.ErrInvalid, "a message of the stream cannot be read: %v", err)
	}
	if m, ok := m.(*tidemarkv1.StreamRequest); ok {
		m.Calls = calls
	}
	return nil
}

// idsOf gives the calls of an encoded StreamRequest with nothing but their ids, and
// stops once there are more than most. It goes through the fields of the message and
// of its calls alike: field 1 begins a call in the former, and is the id in the latter.
func idsOf(r *bufio.Reader, most int) (calls []*tidemarkv1.Call, err error) {
	for len(calls) <= most {
		tag, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return calls, nil
		}
		if err != nil {
			return nil, err
		}
		var v uint64
		number, kind := protowire.DecodeTag(tag)
		switch kind {
		case protowire.VarintType:
			if v, err = binary.ReadUvarint(r); number == 1 && len(calls) > 0 {
				calls[len(calls)-1].Id = v
			}
		case protowire.BytesType:
			if v, err = binary.ReadUvarint(r); number == 1 {
				calls = append(calls, new(tidemarkv1.Call))
			} else if err == nil {
				_, err = r.Discard(int(min(v, 1<<31-1)))
			}
		case protowire.Fixed64Type:
			_, err = r.Discard(8)
		case protowire.Fixed32Type:
			_, err = r.Discard(4)
		default:
			err = offset.ErrInvalid
		}
		if err != nil {
			return nil, broken(err)
		}
	}
	return calls, nil
}
