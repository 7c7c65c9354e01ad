package client

import (
	"log/slog"
	"time"
)

// RocketMQ's pauses of the persist loop: before the first run, and between runs.
const (
	RocketMQFirstPersist    = 10 * time.Second
	RocketMQPersistInterval = 5 * time.Second
)

// persistTimeout is the default of WithPersistTimeout.
const persistTimeout = 5 * time.Second

// StoreOption changes one setting of a RemoteStore or a LocalFileStore. A nil
// one changes nothing, and neither does one that concerns the other store.
type StoreOption func(*storeSettings)

// storeSettings are the options of a store, all set.
type storeSettings struct {
	first, interval time.Duration
	timeout         time.Duration
	clock           Clock
	logger          *slog.Logger
	hooks           StoreHooks
	metrics         Metrics
	// onFenced is a RemoteStore's; dir, ignoreDamage and disk a LocalFileStore's.
	onFenced     func(Fence)
	dir          string
	ignoreDamage bool
	disk         disk
}

// settleStore applies opts over the defaults; what a Client has been given
// comes from base.
func settleStore(base settings, opts []StoreOption) storeSettings {
	s := storeSettings{
		interval: time.Second,
		clock:    base.clock, logger: base.given, metrics: base.metrics, disk: realDisk{},
	}
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	s.first = positive(s.first, s.interval)
	s.timeout = positive(s.timeout, persistTimeout)
	if s.clock == nil {
		s.clock = realClock{}
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	return s
}

// WithPersistInterval is the pause between two runs of the persist loop; the
// default is 1 s, RocketMQ's is RocketMQPersistInterval. 0 or less: there is no
// loop; the application persists, and learns of acts on queues that it does not
// commit only when it does.
func WithPersistInterval(d time.Duration) StoreOption {
	return func(s *storeSettings) { s.interval = d }
}

// WithFirstPersist is the pause before the first run of the persist loop; the
// default is the interval, RocketMQ's is RocketMQFirstPersist.
func WithFirstPersist(d time.Duration) StoreOption {
	return func(s *storeSettings) { s.first = d }
}

// WithPersistTimeout bounds one run of the persist loop, and what is sent one
// way; the default is 5 s.
func WithPersistTimeout(d time.Duration) StoreOption {
	return func(s *storeSettings) { s.timeout = d }
}

// WithOnFenced sets the function that is called for each queue of a RemoteStore that
// is frozen: on the goroutine that found it out, which is the persist loop's or that
// of a caller of PersistAll, Persist, UpdateConsumeOffsetToBroker or Close.
// It may use the store (RemoveOffset and ReadOffset come to mind), but must not
// call Close. Without it PersistAll keeps returning the error.
func WithOnFenced(f func(Fence)) StoreOption { return func(s *storeSettings) { s.onFenced = f } }

// WithStoreHooks sets the hooks.
func WithStoreHooks(h StoreHooks) StoreOption { return func(s *storeSettings) { s.hooks = h } }

// WithStoreMetrics sets the counters; the default of a RemoteStore is that of its
// Client, of a LocalFileStore none.
func WithStoreMetrics(m Metrics) StoreOption { return func(s *storeSettings) { s.metrics = m } }

// WithStoreClock replaces the clock; the default of a RemoteStore is that of
// its Client, of a LocalFileStore the real one.
func WithStoreClock(c Clock) StoreOption { return func(s *storeSettings) { s.clock = c } }

// WithStoreLogger sets the log of fences, of damage, and of a persist loop that
// fails; the default of a RemoteStore is that of its Client if that was
// given one, else slog.Default(), so that none of it stays unsaid.
func WithStoreLogger(l *slog.Logger) StoreOption { return func(s *storeSettings) { s.logger = l } }

func (s *storeSettings) pace() pace { return pace{s.first, s.interval, s.timeout, s.clock} }
