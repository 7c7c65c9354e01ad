package client

import (
	"context"
	"log/slog"
	"net"
	"time"
)

// Option changes one setting of a Client. A nil Option changes nothing; nil, 0
// or less for a setting means its default.
type Option func(*settings)

// Dialer opens a connection to addr ("host:port") within ctx. It is called
// from many goroutines.
type Dialer func(ctx context.Context, addr string) (net.Conn, error)

// Backoff gives the pause before try n (from 1) of one call, or of one search
// for a node. It is called from many goroutines; the pause ends early with the
// caller's context.
type Backoff func(n int) time.Duration

// Clock is what a Client takes for the time. The deadlines of contexts are not
// its business: they follow the real clock.
type Clock interface {
	// Now gives the time.
	Now() time.Time
	// After sends the time once d has passed.
	After(d time.Duration) <-chan time.Time
}

// WithDialer makes the Client open its connections with dial; the default is TCP.
func WithDialer(dial Dialer) Option { return func(s *settings) { s.dial = dial } }

// WithDialTimeout bounds each opening of a connection; callers wait for it no longer
// than their own context. The default is 1 s.
func WithDialTimeout(d time.Duration) Option { return func(s *settings) { s.dialTime = d } }

// WithAttemptTimeout is the longest that one node may take for a call before
// it is asked of another, within the caller's deadline; the default is 2 s. A
// commit that was merely slow is then sent twice, which is harmless.
func WithAttemptTimeout(d time.Duration) Option { return func(s *settings) { s.attempt = d } }

// WithBackoff replaces the pauses between tries; the default grows from 10 ms
// to 500 ms, each drawn at random from its upper half.
func WithBackoff(b Backoff) Option { return func(s *settings) { s.backoff = b } }

// WithClock replaces the clock; the default is the real one.
func WithClock(c Clock) Option { return func(s *settings) { s.clock = c } }

// WithLogger makes the Client log what it does about nodes, and its
// RemoteStores what they do; the default of a Client logs nothing.
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.given = l } }

// WithHooks sets the hooks.
func WithHooks(h Hooks) Option { return func(s *settings) { s.hooks = h } }

// WithMetrics sets the counters of what the Client and its RemoteStores do; the
// default is none.
func WithMetrics(m Metrics) Option { return func(s *settings) { s.metrics = m } }

// WithInFlight bounds the calls that are under way on the connection; further
// ones wait within their context. The default is 1,024.
func WithInFlight(n int) Option { return func(s *settings) { s.inFlight = n } }

// WithSilence is after how long without a sign of life a connection with calls
// under way is given up; the default is 500 ms. A server gives one every 100 ms.
func WithSilence(d time.Duration) Option { return func(s *settings) { s.silence = d } }
