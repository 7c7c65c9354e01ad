package conn

import (
	"context"
	"net"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
)

// Stream carries messages both ways. Send is called from one goroutine, Recv
// from another; Close from any, also while both run, and more than once.
type Stream interface {
	// Send returns once the message is handed over; it may block while the
	// other side does not read. The message is not used after it has returned.
	Send(*tidemarkv1.StreamRequest) error
	// Recv waits for the next message; the caller owns it.
	Recv() (*tidemarkv1.StreamResponse, error)
	// Close ends the stream at once; Send and Recv return with an error.
	Close() error
}

// openFrames has the server give nc to a stream.
func openFrames(ctx context.Context, nc net.Conn, addr, authorization string) (Stream, error) {
	s, err := frames.Open(ctx, nc, addr, authorization, offset.MaxAnswer)
	if err != nil {
		return nil, err
	}
	return s, nil
}
