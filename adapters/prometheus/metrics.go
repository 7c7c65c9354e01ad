package tidemarkprom

import (
	"errors"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Metrics is a client.Metrics that counts for Prometheus. Its methods may be
// called from any goroutine.
type Metrics struct {
	groups bool

	calls       *prometheus.CounterVec
	callSeconds *prometheus.HistogramVec
	retries     *prometheus.CounterVec
	connections prometheus.Gauge
	connects    prometheus.Counter
	changes     prometheus.Counter
	runs        *prometheus.CounterVec
	runSeconds  *prometheus.HistogramVec
	persisted   *prometheus.CounterVec
	failed      *prometheus.CounterVec
	fences      *prometheus.CounterVec
	stores      *stores
}

var _ client.Metrics = (*Metrics)(nil)

// Option changes one setting. A nil one changes nothing.
type Option func(*Metrics)

// WithGroups adds the label "group" to what is counted of stores: for an
// application whose groups are few and of its own making, since each name is a
// series of its own for as long as the process runs.
func WithGroups() Option { return func(m *Metrics) { m.groups = true } }

// New returns a Metrics that is registered at reg. The error is that of
// registering: one Metrics a registry, for all clients and stores.
func New(reg prometheus.Registerer, opts ...Option) (*Metrics, error) {
	m := &Metrics{}
	for _, o := range opts {
		if o != nil {
			o(m)
		}
	}
	m.calls, m.callSeconds, m.retries = calls.counter(false), callSeconds.histogram(), retries.counter(false)
	m.connections, m.connects, m.changes = connections.gauge(), connects.plain(), leaderChanges.plain()
	m.runs, m.runSeconds = runs.counter(m.groups), runSeconds.histogram()
	m.persisted, m.failed, m.fences = persisted.counter(m.groups), failed.counter(m.groups), fences.counter(m.groups)
	m.stores = newStores()
	all := []prometheus.Collector{
		m.calls, m.callSeconds, m.retries, m.connections, m.connects, m.changes,
		m.runs, m.runSeconds, m.persisted, m.failed, m.fences, m.stores,
	}
	for i, c := range all {
		if err := reg.Register(c); err != nil {
			for _, before := range all[:i] {
				reg.Unregister(before)
			}
			return nil, err
		}
	}
	return m, nil
}

// Call counts a call of a Client that ended.
func (m *Metrics) Call(c client.CallEnd) {
	m.calls.WithLabelValues(c.Op, code(c.Err)).Inc()
	m.callSeconds.WithLabelValues(c.Op).Observe(c.Took.Seconds())
	if c.Attempts > 1 {
		m.retries.WithLabelValues(c.Op).Add(float64(c.Attempts - 1))
	}
}

// Connection counts a connection that was opened, or takes no more calls.
func (m *Metrics) Connection(opened bool) {
	if !opened {
		m.connections.Dec()
		return
	}
	m.connections.Inc()
	m.connects.Inc()
}

// LeaderChange counts a change of the leader that was noticed.
func (m *Metrics) LeaderChange() { m.changes.Inc() }

// Persist counts a run of persisting.
func (m *Metrics) Persist(p client.PersistRun) {
	model := p.Model.String()
	m.runs.WithLabelValues(m.labels(p.Group, model, code(p.Err))...).Inc()
	m.runSeconds.WithLabelValues(model).Observe(p.Took.Seconds())
	m.persisted.WithLabelValues(m.labels(p.Group, model)...).Add(float64(p.Persisted))
	m.failed.WithLabelValues(m.labels(p.Group, model)...).Add(float64(p.Failed))
}

// Fence counts a queue that was frozen.
func (m *Metrics) Fence(group string, err error) {
	m.fences.WithLabelValues(m.labels(group, code(err))...).Inc()
}

// labels are those given, and the group before them WithGroups.
func (m *Metrics) labels(group string, others ...string) []string {
	if !m.groups {
		return others
	}
	return append([]string{group}, others...)
}

// code is the name of an error's code. Of an error that a store alone gives it
// is the name of the sentinel, which tells more, or disk if that has failed.
func code(err error) string {
	for _, own := range []struct {
		err  error
		name string
	}{
		{offset.ErrNotRead, "not_read"},
		{offset.ErrOvertaken, "overtaken"},
		{offset.ErrDropped, "dropped"},
	} {
		if errors.Is(err, own.err) {
			return own.name
		}
	}
	if fault := syscall.Errno(0); errors.As(err, &fault) && offset.CodeOf(err) == offset.CodeOutcomeUnknown && !errors.Is(err, offset.ErrOutcomeUnknown) {
		return "disk"
	}
	return offset.CodeOf(err).String()
}
