package wire

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// maxText is the longest error text that is sent or taken, in bytes.
const maxText = 4 << 10

// ToError makes the API's form of err, which must not be nil. An error that
// wraps no sentinel of package offset is an unknown outcome.
func ToError(err error) *tidemarkv1.Error {
	m := &tidemarkv1.Error{Code: uint32(offset.CodeOf(err)), Text: textOf(err)}
	if e := (*offset.Error)(nil); errors.As(err, &e) {
		m.Leader = e.Leader
	}
	return m
}

// textOf gives the words of err without those of its sentinel, which the
// reader has by the code.
func textOf(err error) string {
	if e, ok := err.(*offset.Error); ok {
		return clip(e.Text)
	}
	text := err.Error()
	if s := offset.CodeOf(err).Err(); text == s.Error() {
		return ""
	} else if rest, ok := strings.CutPrefix(text, s.Error()+": "); ok {
		text = rest
	}
	return clip(text)
}

// FromError reads an error, nil for none; errors.Is finds the sentinel, and
// errors.As an *offset.Error with the leader's address. A code that this build
// does not know is offset.ErrOutcomeUnknown, and so is 0.
func FromError(m *tidemarkv1.Error) error {
	if m == nil {
		return nil
	}
	sentinel := offset.ErrOutcomeUnknown
	if code := offset.Code(m.Code); uint32(code) == m.Code && code != offset.CodeOK {
		sentinel = code.Err()
	}
	e := &offset.Error{Err: sentinel, Text: clip(m.Text)}
	if checkAddress("leader", m.Leader) == nil {
		e.Leader = m.Leader
	}
	return e
}

// clip bounds a text and takes out what could forge a line of a log.
func clip(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
		for !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// connectCodes says how each code of ours looks to a client that knows only
// Connect's, and so which HTTP status it gets. What can be tried again as it
// stands is Unavailable (503) or ResourceExhausted (429); what must be read
// again first is Aborted (409).
var connectCodes = map[offset.Code]connect.Code{
	offset.CodeInvalid:        connect.CodeInvalidArgument,
	offset.CodeDenied:         connect.CodePermissionDenied,
	offset.CodeNotLeader:      connect.CodeUnavailable,
	offset.CodeNotReady:       connect.CodeUnavailable,
	offset.CodeBusy:           connect.CodeResourceExhausted,
	offset.CodeNoLeader:       connect.CodeUnavailable,
	offset.CodeFenced:         connect.CodeAborted,
	offset.CodeNotApplied:     connect.CodeAborted,
	offset.CodeSuperseded:     connect.CodeAborted,
	offset.CodeTooOld:         connect.CodeAborted,
	offset.CodeNotFound:       connect.CodeNotFound,
	offset.CodeOutcomeUnknown: connect.CodeDeadlineExceeded,
	offset.CodeForeignCluster: connect.CodeFailedPrecondition,
	offset.CodeImportBusy:     connect.CodeAborted,
	offset.CodeNoImport:       connect.CodeFailedPrecondition,
	offset.CodeLimit:          connect.CodeResourceExhausted,
	offset.CodeLevel:          connect.CodeFailedPrecondition,
	offset.CodeClosed:         connect.CodeUnavailable,
	offset.CodeDamaged:        connect.CodeDataLoss,
	offset.CodeUnreachable:    connect.CodeUnavailable,
}

// ToConnectError makes err, which must not be nil, an error of Connect. Our
// own code, text and leader travel as a detail of type tidemark.v1.Error, so
// that FromConnectError gives back what errors.Is tells apart.
func ToConnectError(err error) *connect.Error {
	m := ToError(err)
	code, ok := connectCodes[offset.Code(m.Code)]
	if !ok {
		code = connect.CodeUnknown
	}
	text := offset.Code(m.Code).Err().Error()
	if m.Text != "" {
		text += ": " + m.Text
	}
	out := connect.NewError(code, errors.New(text))
	if d, err := connect.NewErrorDetail(m); err == nil {
		out.AddDetail(d)
	}
	return out
}

// FromConnectError reads what a call failed with; nil stays nil. An error
// without our detail that the other side sent itself is read by Connect's code
// if that says that nothing was done. All else, a broken connection and a
// passed deadline among it, is offset.ErrOutcomeUnknown with the cause still in
// the chain: whether the request was sent at all only the caller can know.
func FromConnectError(err error) error {
	if err == nil {
		return nil
	}
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return unknown(err)
	}
	for _, d := range ce.Details() {
		v, derr := d.Value()
		if m, ok := v.(*tidemarkv1.Error); ok && derr == nil {
			return FromError(m)
		}
	}
	// A 404 is Unimplemented too, though it comes from no side that speaks Connect.
	if !connect.IsWireError(err) && ce.Code() != connect.CodeUnimplemented {
		return unknown(err)
	}
	switch ce.Code() {
	case connect.CodeInvalidArgument:
		return offset.Errorf(offset.ErrInvalid, "%s", clip(ce.Message()))
	case connect.CodeUnimplemented, connect.CodeNotFound:
		return offset.Errorf(offset.ErrInvalid, "the other side does not know this call (%s); is the address right, and its version not older?", clip(ce.Message()))
	case connect.CodePermissionDenied, connect.CodeUnauthenticated:
		return offset.Errorf(offset.ErrDenied, "%s", clip(ce.Message()))
	}
	return unknown(err)
}

func unknown(err error) error {
	switch {
	case offset.CodeOf(err) != offset.CodeOutcomeUnknown:
		// A sentinel below would win over ours: keep its words, cut the chain.
		return offset.Errorf(offset.ErrOutcomeUnknown, "%s", clip(err.Error()))
	case errors.Is(err, offset.ErrOutcomeUnknown):
		return err
	}
	return fmt.Errorf("%w: %w", offset.ErrOutcomeUnknown, err)
}
