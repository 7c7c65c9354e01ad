package tidemarkprom

import "github.com/prometheus/client_golang/prometheus"

// namespace begins the name of every metric of ours.
const namespace = "tidemark_"

// figure is a row of the table of metrics.
type figure struct {
	name   string
	kind   string
	labels []string
	// group tells that WithGroups adds a label to it.
	group bool
	help  string
}

// The table of metrics. Names never change their meaning.
var (
	calls         = figure{"client_calls_total", "counter", []string{"op", "code"}, false, "Calls of a Client that ended, by the code of what the caller got."}
	callSeconds   = figure{"client_call_seconds", "histogram", []string{"op"}, false, "Time from a call to its end, all its attempts together, in seconds."}
	retries       = figure{"client_retries_total", "counter", []string{"op"}, false, "Attempts of calls beyond the first."}
	connections   = figure{"client_connections", "gauge", nil, false, "Connections to nodes that take calls; one for each Client that was used."}
	connects      = figure{"client_connects_total", "counter", nil, false, "Connections to nodes that were opened."}
	leaderChanges = figure{"client_leader_changes_total", "counter", nil, false, "Changes of the leader that a Client noticed."}
	runs          = figure{"store_runs_total", "counter", []string{"model", "code"}, true, "Runs of persisting that had something to persist, by the code of what the caller got."}
	runSeconds    = figure{"store_run_seconds", "histogram", []string{"model"}, false, "Time of these runs, in seconds."}
	persisted     = figure{"store_persisted_total", "counter", []string{"model"}, true, "Offsets that these runs persisted."}
	failed        = figure{"store_failed_total", "counter", []string{"model"}, true, "Offsets that these runs did not persist; most are tried again by the next run."}
	fences        = figure{"store_fences_total", "counter", []string{"code"}, true, "Queues that were frozen: an operator moved them, or their own Set did not come through."}
	queues        = figure{"store_queues", "gauge", nil, false, "Queues in the memory of the stores that are watched."}
	unpersisted   = figure{"store_unpersisted_queues", "gauge", nil, false, "Of these, the queues with an offset that is not known to be persisted."}
	frozen        = figure{"store_frozen_queues", "gauge", nil, false, "Of these, the queues that are frozen until they are removed and read again."}
)

// The counters of local files; see client.StoreStats.
var (
	fallbacks = figure{"store_fallbacks_total", "counter", nil, false, "Times that a watched LocalFileStore began to use an older copy, or another client's file."}
	damaged   = figure{"store_damaged_files_total", "counter", nil, false, "Damaged files that watched LocalFileStores moved aside."}
)

// figures are all of them, in the order of the documentation.
var figures = []figure{
	calls, callSeconds, retries, connections, connects, leaderChanges,
	runs, runSeconds, persisted, failed, fences, queues, unpersisted, frozen, fallbacks, damaged,
}

// names gives the labels of a figure.
func (f figure) names(groups bool) []string {
	if f.group && groups {
		return append([]string{"group"}, f.labels...)
	}
	return f.labels
}

func (f figure) counter(groups bool) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: namespace + f.name, Help: f.help}, f.names(groups))
}

func (f figure) plain() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: namespace + f.name, Help: f.help})
}

func (f figure) gauge() prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: namespace + f.name, Help: f.help})
}

// buckets reach from a commit on a fast disk to a persist timeout.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func (f figure) histogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: namespace + f.name, Help: f.help, Buckets: buckets}, f.labels)
}

func (f figure) desc() *prometheus.Desc {
	return prometheus.NewDesc(namespace+f.name, f.help, nil, nil)
}
