package entry

import (
	"errors"
	"reflect"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// FuzzDecode: whatever the bytes are, they are refused with one of the two
// errors, or read as something that is written and read again the same.
func FuzzDecode(f *testing.F) {
	for name := range goldenEntries() {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := new(Decoder).Decode(data)
		if err != nil {
			if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, offset.ErrLevel) {
				t.Fatalf("another error: %v", err)
			}
			return
		}
		b := NewBuilder(e.Cluster, e.Level)
		for i := range e.Requests {
			b.runs = 0 // older builds had no bound on them
			if err := b.Add(&e.Requests[i]); err != nil {
				t.Fatalf("request %d was read but can't be written: %v", i, err)
			}
		}
		again, err := new(Decoder).Decode(b.Seal(e.Time))
		if err != nil {
			t.Fatalf("what was written again can't be read: %v", err)
		}
		if !reflect.DeepEqual(again, e) {
			t.Fatalf("read again it is\n%#v\nand was\n%#v", again, e)
		}
	})
}
