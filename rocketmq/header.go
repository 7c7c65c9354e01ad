package rocketmq

import "encoding/json"

// header is what a frame says beside its body, whichever way it is written.
type header struct {
	// Code is what is asked for, or of an answer what became of it; 0 is success.
	Code int `json:"code"`
	// Language names the sender's, and is not looked at: peers may be of any.
	Language string `json:"language,omitempty"`
	// Version is the place of the sender's version in RocketMQ's list of its
	// versions: 407 is 4.9.7, 513 is 5.5.0.
	Version int `json:"version"`
	// Opaque is the number of a request, which its answer repeats.
	Opaque int32 `json:"opaque"`
	// Flag holds flagResponse and flagOneway.
	Flag int32 `json:"flag"`
	// Remark is the text of an error.
	Remark string `json:"remark,omitempty"`
	// Fields are the arguments, or the results. nil is none.
	Fields map[string]string `json:"extFields,omitempty"`
}

// The bits of header.Flag.
const (
	flagResponse = 1 << 0
	flagOneway   = 1 << 1
)

// version407 is the version that requests name, 4.9.7: name servers quote the
// keys of their JSON for 4.9.4 and later, and brokers send clients above 5.3.1
// away before they stop, where others get a plain error.
const version407 = 407

// appendJSON appends the header as JSON.
func (h header) appendJSON(b []byte) []byte {
	text, err := json.Marshal(h)
	if err != nil {
		panic("rocketmq: a header of strings and numbers does not marshal: " + err.Error())
	}
	return append(b, text...)
}

// answers tells whether the header is that of an answer; else it is a request
// of the peer's.
func (h header) answers() bool { return h.Flag&flagResponse != 0 }

// decodeJSON reads a JSON header. Members that are not known are ignored.
func decodeJSON(text []byte) (header, error) {
	// language is left out: some write it as a number, and nobody needs it.
	var h struct {
		header
		Language json.RawMessage `json:"language"`
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return header{}, damaged("the header is not the JSON of a frame: %v", err)
	}
	return h.header, nil
}
