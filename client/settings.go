package client

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"github.com/tidemark-mq/tidemark/transport/conn"
)

// settings are the options of a Client, all set.
type settings struct {
	dial     Dialer
	dialTime time.Duration
	attempt  time.Duration
	backoff  Backoff
	clock    Clock
	// given is the logger that was set, nil if none was; logger is never nil.
	given, logger *slog.Logger
	hooks         Hooks
	// metrics is nil if nobody counts.
	metrics  Metrics
	inFlight int
	silence  time.Duration
	// tls gives that of the next connection to a host, to be changed at will; nil:
	// cleartext. token gives what to show, if now as it is at this moment; nil: nothing.
	tls           func(ctx context.Context, host string) (*tls.Config, error)
	token         func(ctx context.Context, now bool) (string, error)
	insecureToken bool
}

// settle applies opts over the defaults.
func settle(opts []Option) settings {
	s := settings{
		dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		},
		dialTime: time.Second,
		attempt:  2 * time.Second,
		backoff:  jittered,
		clock:    realClock{},
		inFlight: conn.DefaultInFlight,
		silence:  conn.DefaultSilence,
	}
	defaults := s
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	if s.logger = s.given; s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.fill(defaults)
	return s
}

// fill puts defaults where an option has set nothing that can be used.
func (s *settings) fill(defaults settings) {
	if s.dial == nil {
		s.dial = defaults.dial
	}
	if s.backoff == nil {
		s.backoff = defaults.backoff
	}
	if s.clock == nil {
		s.clock = defaults.clock
	}
	s.dialTime = positive(s.dialTime, defaults.dialTime)
	s.attempt = positive(s.attempt, defaults.attempt)
	s.inFlight = positive(s.inFlight, defaults.inFlight)
	s.silence = positive(s.silence, defaults.silence)
}

// positive gives v, or what stands for it where it is not above 0.
func positive[T ~int | ~int64](v, standard T) T {
	if v > 0 {
		return v
	}
	return standard
}

// The bounds of the pause that jittered gives.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// jittered is the default Backoff: it doubles, and each pause is drawn from
// its upper half, so that clients that failed together do not come back together.
func jittered(n int) time.Duration {
	d := firstPause
	for ; n > 1 && d < lastPause; n-- {
		d *= 2
	}
	d = min(d, lastPause)
	return d/2 + rand.N(d/2+1)
}

// realClock is the clock of the machine.
type realClock struct{}

func (realClock) Now() time.Time                         { return time.Now() }
func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
