package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// farewell is how long a peer is given to take why its stream has ended.
const farewell = time.Second

// framed serves a stream on a connection of its own, which it takes over from
// net/http.
func (s *Server) framed(w http.ResponseWriter, r *http.Request) {
	f, err := frames.Accept(w, s.limits.Message, s.limits.Body)
	if err != nil {
		s.log.Debug("a stream did not begin", "from", r.RemoteAddr, "error", err)
		return
	}
	defer context.AfterFunc(s.cutting, func() { _ = f.Close() })()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	h := s.newHold(freeBytes)
	defer h.drop()
	f.Begun, f.Arriving, f.Calls = h.begin, h.grow, s.limits.callsPerMessage()
	f.Arrived = func(b []byte) error { return h.arrived(b, (*tidemarkv1.StreamRequest)(nil)) }
	f.End(s.stream(ctx, upgraded{f, cancel}, s.callerOf(r), h, 0, f.Interrupt, f.CutOff), farewell)
}

// upgraded is the conduit of such a stream. A connection that breaks ends the
// calls under way, as that of HTTP/2 does.
type upgraded struct {
	*frames.Server
	broke context.CancelCauseFunc
}

// Receive waits for the next message.
func (u upgraded) Receive() (*tidemarkv1.StreamRequest, error) {
	m, err := u.Server.Receive()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, offset.ErrInvalid) && !errors.Is(err, offset.ErrBusy) {
		u.broke(err)
	}
	return m, err
}

// toConnect makes an error of ours, or nil, what Connect's handlers return.
func toConnect(err error) error {
	if e := (*offset.Error)(nil); errors.As(err, &e) {
		return wire.ToConnectError(err)
	}
	return err
}
