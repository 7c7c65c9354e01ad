package main

import (
	"fmt"
	"time"

	armon "github.com/armon/go-metrics"
	sink "github.com/armon/go-metrics/prometheus"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-mq/tidemark/node"
)

// serverFigures gives the rows of the table that the server counts.
type serverFigures struct{ *metrics }

// Describe names them.
func (f serverFigures) Describe(to chan<- *prometheus.Desc) {
	for _, row := range figures {
		if row.read != nil {
			to <- row.desc()
		}
	}
}

// Collect reads them; there are none before the server is made.
func (f serverFigures) Collect(to chan<- prometheus.Metric) {
	stats := f.stats.Load()
	if stats == nil {
		return
	}
	now := (*stats)()
	for _, row := range figures {
		if row.read == nil {
			continue
		}
		to <- prometheus.MustNewConstMetric(row.desc(), valueType(row.kind == counter), float64(row.read(now)))
	}
}

func (row *figure) desc() *prometheus.Desc {
	return prometheus.NewDesc(namespace+row.name, row.help, nil, nil)
}

func valueType(counts bool) prometheus.ValueType {
	if counts {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

// memberFigures gives what the member counts; its names are its own.
type memberFigures struct{ read func() []node.Metric }

// Describe names them.
func (f memberFigures) Describe(to chan<- *prometheus.Desc) {
	for _, row := range f.read() {
		to <- prometheus.NewDesc(namespace+row.Name, row.Help, nil, nil)
	}
}

// Collect reads them.
func (f memberFigures) Collect(to chan<- prometheus.Metric) {
	for _, row := range f.read() {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(namespace+row.Name, row.Help, nil, nil), valueType(row.Counter), row.Value)
	}
}

// notShown begins the names of what raft and its log store tell of the parts of
// each message and each append, beside the whole. Each is a summary, which costs
// a follower more than the histograms of ours that tell about the same.
var notShown = []string{
	"raft.net.",
	"raft.rpc.appendEntries.",
	"raft.boltdb.log", "raft.boltdb.writeCapacity",
	"raft.fsm.applyBatchNum", "raft.fsm.enqueue",
}

// feedRaft gives raft's own metrics to the registry. Raft and its log store
// report to the global of armon/go-metrics; a daemon is one member, so there
// is one registry that it can be for. What was not reported for a minute, as
// of a member that has gone, is dropped.
func feedRaft(registry *prometheus.Registry) error {
	s, err := sink.NewPrometheusSinkFrom(sink.PrometheusOpts{Expiration: time.Minute, Registerer: registry, Name: "raft"})
	if err != nil {
		return fmt.Errorf("registering raft's metrics: %w", err)
	}
	config := armon.DefaultConfig("")
	config.EnableHostname, config.EnableRuntimeMetrics = false, false
	config.BlockedPrefixes = notShown
	if _, err := armon.NewGlobal(config, s); err != nil {
		return fmt.Errorf("registering raft's metrics: %w", err)
	}
	return nil
}
