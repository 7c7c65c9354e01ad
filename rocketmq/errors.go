package rocketmq

import (
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// The codes of answers that are told apart here.
const (
	codeSystemError  = 1
	codeBusy         = 2
	codeNotSupported = 3
	codeNoPermission = 16
	codeNoTopic      = 17
	codeNotFound     = 22
	codeInvalid      = 29
	codeNotLeader    = 501
	codeGoAway       = 1500
)

// RemoteError is a peer's answer that is no success. It wraps
// offset.ErrNotFound where the peer has no such topic, offset.ErrDenied and
// offset.ErrBusy where it says so, and else nothing.
type RemoteError struct {
	// Code is RocketMQ's response code.
	Code int
	// Remark is the peer's text: from outside, and of any length below 64 KiB.
	Remark string
}

// meanings are RocketMQ's words for its codes, and the sentinel they are for us.
var meanings = map[int]struct {
	words string
	err   error
}{
	codeSystemError:  {"system error", nil},
	codeBusy:         {"system busy", offset.ErrBusy},
	codeNotSupported: {"request code not supported", nil},
	codeNoPermission: {"no permission", offset.ErrDenied},
	codeNoTopic:      {"topic does not exist", offset.ErrNotFound},
	codeNotFound:     {"query not found", offset.ErrNotFound},
	codeInvalid:      {"invalid parameter", nil},
	codeNotLeader:    {"another broker has the queue of this static topic", nil},
	codeGoAway:       {"the broker is stopping", nil},
}

// Error gives code, meaning and the first line of the remark.
func (e *RemoteError) Error() string {
	words := meanings[e.Code].words
	if words == "" {
		words = "unknown to this program"
	}
	text := fmt.Sprintf("answered with code %d (%s)", e.Code, words)
	if remark := firstLine(e.Remark); remark != "" {
		text += fmt.Sprintf(": %q", remark)
	}
	return text
}

// Unwrap returns the sentinel that the code stands for, nil for none.
func (e *RemoteError) Unwrap() error { return meanings[e.Code].err }

// firstLine gives what of a remark fits into a line.
func firstLine(s string) string {
	const most = 200
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
