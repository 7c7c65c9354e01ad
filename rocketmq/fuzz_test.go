package rocketmq

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidemark-mq/tidemark/offset"
)

// FuzzFrame feeds any bytes to the reader of frames: it never panics, takes no
// more than it should, and what it takes as a header is the same when it is
// written and read again.
func FuzzFrame(f *testing.F) {
	for _, name := range []string{"C22.frames.hex", "C23.frames.hex", "answers.frames.hex"} {
		list, _ := frames(f, name)
		for _, b := range list {
			f.Add(b)
		}
	}
	f.Add(frameOf(header{Code: 17, Opaque: 1, Flag: flagResponse, Remark: "no", Fields: map[string]string{"offset": "5"}}, "body"))
	const most = 1 << 10
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		h, n, err := readFrame(r, most)
		if err != nil {
			if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			return
		}
		if read := len(in) - r.Len(); n < 0 || n > most || read < framePrefix || read > framePrefix+maxHeader {
			t.Fatalf("%d bytes were read, and a body of %d is left", read, n)
		}
		checkHeader(t, h)
	})
}

// checkHeader writes a header and reads it again.
func checkHeader(t *testing.T, h header) {
	h.Language = ""
	again, n, err := readFrame(bytes.NewReader(appendFrame(nil, h)), 0)
	if err != nil {
		if len(h.appendJSON(nil)) > maxHeader { // a binary one can be longer as JSON
			return
		}
		t.Fatal(err)
	}
	if n != 0 || again.Code != h.Code || again.Opaque != h.Opaque || again.Flag != h.Flag || again.Version != h.Version {
		t.Fatalf("%+v became %+v", h, again)
	}
	if utf8.ValidString(h.Remark) && again.Remark != h.Remark {
		t.Fatalf("the remark %q became %q", h.Remark, again.Remark)
	}
	if len(again.Fields) > len(h.Fields) || len(h.Fields) == 0 && !maps.Equal(again.Fields, h.Fields) {
		t.Fatalf("the fields %q became %q", h.Fields, again.Fields)
	}
}

// FuzzBinaryHeader feeds any bytes to the reader of binary headers.
func FuzzBinaryHeader(f *testing.F) {
	for _, name := range []string{"C22.frames.hex", "C23.frames.hex", "answers.frames.hex"} {
		list, _ := frames(f, name)
		for _, b := range list {
			if len(b) > framePrefix && b[4] == typeBinary {
				f.Add(b[framePrefix:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := decodeBinary(in)
		if err != nil {
			if !errors.Is(err, offset.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		size := len(h.Remark)
		for k, v := range h.Fields {
			size += len(k) + len(v)
		}
		if size > len(in) {
			t.Fatalf("a header of %d bytes holds texts of %d", len(in), size)
		}
		checkHeader(t, h)
	})
}

// FuzzBodies feeds any bytes to the readers of what name servers and brokers
// say of themselves: what they take is whole and can be asked for.
func FuzzBodies(f *testing.F) {
	list, _ := frames(f, "answers.frames.hex")
	for _, b := range list {
		// What stands behind the header, found without the code that reads frames:
		// fuzz-planted takes checks out of all that the seeds enter.
		f.Add(b[8+binary.BigEndian.Uint32(b[4:])&0xffffff:])
	}
	f.Add([]byte("brokerName=b\nbrokerId=0\nbrokerRole=SLAVE\n"))
	f.Add([]byte(`{"brokerDatas":[{"brokerName":"b","brokerAddrs":{0:"h:1",1:"h:2"}}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		masters, err := mastersOf(in)
		checkBody(t, err)
		for _, b := range masters {
			if b.ID != 0 || !named(b.Name) {
				t.Fatalf("a master is %+v", b)
			}
		}
		queues, err := queuesOf(in)
		checkBody(t, err)
		for _, q := range queues {
			if q.Queue.QueueID < 0 || q.Min < 0 || q.Max < 0 {
				t.Fatalf("a queue is %+v", q)
			}
		}
		b, err := brokerOf(in)
		checkBody(t, err)
		if err == nil && !named(b.Name) {
			t.Fatalf("a broker is %+v", b)
		}
	})
}

// named tells whether a name is one, without asking the code that checks it.
func named(s string) bool {
	return s != "" && len(s) <= 255 && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func checkBody(t *testing.T, err error) {
	if err != nil && !errors.Is(err, offset.ErrDamaged) {
		t.Fatal(err)
	}
}
