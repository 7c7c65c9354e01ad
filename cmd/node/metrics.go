package main

import (
	"fmt"
	"log"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// namespace begins the name of every metric of ours.
const namespace = "tidemark_"

// kind is how a metric is to be read.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// figure is a row of the table of metrics.
type figure struct {
	name   string
	kind   kind
	labels []string
	help   string
	// read gives the value of those that the server counts; nil for those of calls.
	read func(server.Stats) int64
}

// The metrics of calls. Labels: method is one of server.Methods, code the name
// of a code of docs/errors.md; so neither comes from a peer.
var (
	callsTotal   = figure{name: "api_calls_total", kind: counter, labels: []string{"method", "code"}, help: "Calls answered, by the code of their answer."}
	callItems    = figure{name: "api_items_total", kind: counter, labels: []string{"method"}, help: "Keys and commits that these calls carried."}
	callDuration = figure{name: "api_call_seconds", kind: histogram, labels: []string{"method"}, help: "Time from a decoded request to its answer, in seconds."}
)

// The metrics of log entries that the member proposed as the leader, and of its
// disk. A stage is one of the fields of offset.Stages.
var (
	entryRequests = figure{name: "entry_requests", kind: histogram, help: "Requests in a log entry that this member proposed."}
	entryOffsets  = figure{name: "entry_offsets", kind: histogram, help: "Commits and sets in such an entry."}
	entryBytes    = figure{name: "entry_bytes", kind: histogram, help: "Bytes of such an entry in the log."}
	entryInFlight = figure{name: "entries_in_flight", kind: histogram, help: "Entries in flight when one was proposed, itself included."}
	entryStage    = figure{name: "entry_stage_seconds", kind: histogram, labels: []string{"stage"}, help: "Time of such an entry in each stage, in seconds: queue until it is proposed, log until it is on the leader's disk, quorum until it is on those of a quorum, handover until the state machine takes it up though it is free, apply."}
	diskWrite     = figure{name: "disk_write_seconds", kind: histogram, help: "Time of a write of log, term or vote, its syncs included, in seconds."}
)

// figures is the table of what the daemon itself counts; those of the member
// are node.Metrics', those of raft the library's own.
var figures = []figure{
	callsTotal, callItems, callDuration,
	entryRequests, entryOffsets, entryBytes, entryInFlight, entryStage, diskWrite,
	{"api_connections", gauge, nil, "Connections of clients that are open.", func(s server.Stats) int64 { return s.Connections }},
	{"api_streams", gauge, nil, "Streams that are open.", func(s server.Stats) int64 { return s.Streams }},
	{"api_calls", gauge, nil, "Calls under way.", func(s server.Stats) int64 { return s.Calls }},
	{"api_call_bytes", gauge, nil, "Bytes that calls under way, and refusals that wait, count for against --limit-call-bytes.", func(s server.Stats) int64 { return s.Bytes }},
	{"api_refused_connections_total", counter, nil, "Connections refused for --limit-connections or --limit-per-address.", func(s server.Stats) int64 { return s.RefusedConnections }},
	{"api_busy_total", counter, nil, "Calls answered with busy for a bound of the API.", func(s server.Stats) int64 { return s.Busy }},
	{"api_panics_total", counter, nil, "Panics of handlers, caught. Each is a fault to report.", func(s server.Stats) int64 { return s.Panics }},
	{"api_stalled_total", counter, nil, "Streams cut off since the peer did not read its answers.", func(s server.Stats) int64 { return s.Stalled }},
}

// metrics is the registry of one daemon.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	items    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	kinds    sync.Map // callKind to *callFigures
	stats    atomic.Pointer[func() server.Stats]
}

// newMetrics makes a registry; member gives the values of node's table, and entries
// is what the member observes by itself.
func newMetrics(entries *entryFigures, member func() []node.Metric) (*metrics, error) {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: namespace + callsTotal.name, Help: callsTotal.help}, callsTotal.labels),
		items:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: namespace + callItems.name, Help: callItems.help}, callItems.labels),
		duration: prometheus.NewHistogramVec(callDuration.opts(durations), callDuration.labels),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: namespace + "build_info", Help: buildInfoHelp,
		ConstLabels: prometheus.Labels{"version": version(), "format_level": fmt.Sprint(offset.FormatLevel)},
	})
	build.Set(1)
	for _, c := range append(entries.all(),
		m.calls, m.items, m.duration, build, serverFigures{m}, memberFigures{member},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	) {
		if err := m.registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	return m, feedRaft(m.registry)
}

const buildInfoHelp = "1, with the version of the build and the highest format level it reads."

// serve names the server whose counts are shown.
func (m *metrics) serve(stats func() server.Stats) { m.stats.Store(&stats) }

// handler serves the page, at most 4 at a time.
func (m *metrics) handler(l hclog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            log.New(l.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn}), "", 0),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
	})
}

// callKind is what calls are counted by.
type callKind struct {
	method string
	code   offset.Code
}

// callFigures are those of one kind, so that they are looked up by their labels
// once and not for each call.
type callFigures struct {
	calls, items prometheus.Counter
	duration     prometheus.Observer
}

// observe is the server's.
func (m *metrics) observe(c server.Call) {
	kind := callKind{c.Method, c.Code}
	known, ok := m.kinds.Load(kind)
	if !ok {
		known, _ = m.kinds.LoadOrStore(kind, m.figures(kind))
	}
	f := known.(*callFigures)
	f.calls.Inc()
	f.items.Add(float64(c.Items))
	f.duration.Observe(c.Took.Seconds())
}

func (m *metrics) figures(k callKind) *callFigures {
	if !slices.Contains(server.Methods, k.method) {
		k.method = "other"
	}
	if k.code != offset.CodeOK && !slices.Contains(offset.Codes(), k.code) {
		k.code = offset.CodeOutcomeUnknown
	}
	return &callFigures{
		calls:    m.calls.WithLabelValues(k.method, k.code.String()),
		items:    m.items.WithLabelValues(k.method),
		duration: m.duration.WithLabelValues(k.method),
	}
}
