package remoting

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Form is how a header is written.
type Form byte

// The forms there are.
const (
	JSON   Form = 0
	Binary Form = 1
)

// Bits of a frame's flag.
const (
	flagAnswer = 1
	flagOneWay = 2
)

// version is the MQVersion that requests say they come from: 5.3.3.
const version = 479

// Frame is one request or answer.
type Frame struct {
	Code   int
	Opaque int
	Flag   int
	Remark string
	Ext    map[string]string
	Body   []byte
}

// Answer tells whether the frame answers a request.
func (f *Frame) Answer() bool { return f.Flag&flagAnswer != 0 }

// jsonHeader is a header in its JSON form.
type jsonHeader struct {
	Code     int               `json:"code"`
	Language string            `json:"language"`
	Version  int               `json:"version"`
	Opaque   int               `json:"opaque"`
	Flag     int               `json:"flag"`
	Remark   string            `json:"remark,omitempty"`
	Ext      map[string]string `json:"extFields,omitempty"`
	Type     string            `json:"serializeTypeCurrentRPC"`
}

// append writes the frame behind b.
func (f *Frame) append(b []byte, form Form) ([]byte, error) {
	header, err := f.header(form)
	if err != nil {
		return nil, err
	}
	b = binary.BigEndian.AppendUint32(b, uint32(4+len(header)+len(f.Body)))
	b = binary.BigEndian.AppendUint32(b, uint32(form)<<24|uint32(len(header)))
	return append(append(b, header...), f.Body...), nil
}

func (f *Frame) header(form Form) ([]byte, error) {
	if form == JSON {
		return json.Marshal(jsonHeader{f.Code, "JAVA", version, f.Opaque, f.Flag, f.Remark, f.Ext, "JSON"})
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(f.Code))
	b = append(b, 0) // JAVA
	b = binary.BigEndian.AppendUint16(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(f.Opaque))
	b = binary.BigEndian.AppendUint32(b, uint32(f.Flag))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.Remark)))
	b = append(b, f.Remark...)
	var ext []byte
	for _, k := range slices.Sorted(maps.Keys(f.Ext)) {
		ext = binary.BigEndian.AppendUint16(ext, uint16(len(k)))
		ext = append(ext, k...)
		ext = binary.BigEndian.AppendUint32(ext, uint32(len(f.Ext[k])))
		ext = append(ext, f.Ext[k]...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(ext)))
	return append(b, ext...), nil
}

// decode reads what follows a frame's length.
func decode(b []byte) (*Frame, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("a frame of %d bytes", len(b))
	}
	form, size := Form(b[0]), int(binary.BigEndian.Uint32(b)&0xff_ffff)
	if size > len(b)-4 {
		return nil, fmt.Errorf("a header of %d bytes in a frame of %d", size, len(b))
	}
	header, body := b[4:4+size], b[4+size:]
	if form == Binary {
		return decodeBinary(header, body)
	}
	var h jsonHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return nil, fmt.Errorf("the header of a frame: %w", err)
	}
	return &Frame{h.Code, h.Opaque, h.Flag, h.Remark, h.Ext, body}, nil
}

func decodeBinary(b, body []byte) (*Frame, error) {
	r := reader{b: b}
	f := &Frame{Code: int(int16(r.number(2))), Body: body}
	r.number(1) // the language
	r.number(2) // the version
	f.Opaque, f.Flag = int(int32(r.number(4))), int(r.number(4))
	f.Remark = r.text(4)
	ext := reader{b: []byte(r.text(4))}
	f.Ext = make(map[string]string)
	for len(ext.b) > 0 && !ext.short {
		k := ext.text(2)
		f.Ext[k] = ext.text(4)
	}
	if r.short || ext.short {
		return nil, fmt.Errorf("a binary header that ends early: %x", b)
	}
	return f, nil
}

// reader reads a binary header; short tells that it ended early.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) number(size int) (n uint64) {
	for _, c := range r.take(size) {
		n = n<<8 | uint64(c)
	}
	return n
}

func (r *reader) text(size int) string { return string(r.take(int(r.number(size)))) }

func (r *reader) take(n int) []byte {
	if n > len(r.b) {
		r.short = true
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}
