package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-mq/tidemark/node"
)

// durations are the buckets of times, in seconds.
var durations = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// entryFigures are the histograms of what the member tells of each log entry and
// each write to its disk.
type entryFigures struct {
	requests, offsets, bytes, inFlight  prometheus.Histogram
	queue, log, quorum, handover, apply prometheus.Observer
	stages                              *prometheus.HistogramVec
	writes                              prometheus.Histogram
}

func newEntryFigures() *entryFigures {
	one := func(f figure, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(f.opts(buckets))
	}
	stages := prometheus.NewHistogramVec(entryStage.opts(durations), entryStage.labels)
	return &entryFigures{
		requests: one(entryRequests, prometheus.ExponentialBuckets(1, 2, 14)),
		offsets:  one(entryOffsets, prometheus.ExponentialBuckets(1, 4, 9)),
		bytes:    one(entryBytes, prometheus.ExponentialBuckets(64, 2, 14)),
		inFlight: one(entryInFlight, []float64{1, 2, 3, 4, 6, 8, 12, 16}),
		stages:   stages,
		queue:    stages.WithLabelValues("queue"), log: stages.WithLabelValues("log"), quorum: stages.WithLabelValues("quorum"),
		handover: stages.WithLabelValues("handover"), apply: stages.WithLabelValues("apply"),
		writes: one(diskWrite, durations),
	}
}

func (f *figure) opts(buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: namespace + f.name, Help: f.help, Buckets: buckets}
}

func (f *entryFigures) all() []prometheus.Collector {
	return []prometheus.Collector{f.requests, f.offsets, f.bytes, f.inFlight, f.stages, f.writes}
}

// entry is node.Config's OnEntry.
func (f *entryFigures) entry(c node.EntryCost) {
	f.requests.Observe(float64(c.Requests))
	f.offsets.Observe(float64(c.Offsets))
	f.bytes.Observe(float64(c.Bytes))
	f.inFlight.Observe(float64(c.InFlight))
	s := &c.Stages
	f.queue.Observe(s.Queue.Seconds())
	f.log.Observe(s.Log.Seconds())
	f.quorum.Observe(s.Quorum.Seconds())
	f.handover.Observe(s.Handover.Seconds())
	f.apply.Observe(s.Apply.Seconds())
}

// write is node.Config's OnWrite.
func (f *entryFigures) write(took time.Duration, _ int) { f.writes.Observe(took.Seconds()) }
