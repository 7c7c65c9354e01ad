package main

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	armon "github.com/armon/go-metrics"
	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// scrape gives the page of metrics.
func scrape(t *testing.T, m *metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler(hclog.NewNullLogger()).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("/metrics: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestEachRowOfTheTableIsShown(t *testing.T) {
	n := idle(t)
	entries := newEntryFigures()
	m, err := newMetrics(entries, n.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	m.serve(func() server.Stats {
		return server.Stats{Connections: 1, Streams: 2, Calls: 3, Bytes: 4, RefusedConnections: 5, Busy: 6, Panics: 7, Stalled: 8}
	})
	m.observe(server.Call{Method: "commit", Items: 16, Code: offset.CodeNotLeader, Took: 3 * time.Millisecond})
	entries.entry(node.EntryCost{Requests: 3, Offsets: 5, Bytes: 100, InFlight: 2, Stages: offset.Stages{
		Queue: time.Millisecond, Log: 2 * time.Millisecond, Quorum: 3 * time.Millisecond, Handover: 4 * time.Millisecond, Apply: 5 * time.Millisecond,
	}})
	entries.write(6*time.Millisecond, 7)
	text := scrape(t, m)
	for _, f := range figures {
		head := "# HELP " + namespace + f.name + " " + f.help + "\n# TYPE " + namespace + f.name + " " + string(f.kind) + "\n"
		if !strings.Contains(text, head) {
			t.Errorf("the page lacks %s", head)
		}
	}
	for _, f := range n.Metrics() {
		if !strings.Contains(text, "\n"+namespace+f.Name+" ") {
			t.Errorf("the page lacks a value of %s", f.Name)
		}
	}
	for _, line := range []string{
		`tidemark_api_calls_total{code="not_leader",method="commit"} 1`,
		`tidemark_api_items_total{method="commit"} 16`,
		`tidemark_api_call_seconds_bucket{method="commit",le="0.0025"} 0`,
		`tidemark_api_call_seconds_bucket{method="commit",le="0.005"} 1`,
		`tidemark_entry_requests_sum 3`, `tidemark_entry_requests_bucket{le="2"} 0`, `tidemark_entry_requests_bucket{le="4"} 1`,
		`tidemark_entry_offsets_sum 5`, `tidemark_entry_bytes_sum 100`, `tidemark_entries_in_flight_sum 2`,
		`tidemark_entry_stage_seconds_sum{stage="queue"} 0.001`, `tidemark_entry_stage_seconds_sum{stage="log"} 0.002`,
		`tidemark_entry_stage_seconds_sum{stage="quorum"} 0.003`, `tidemark_entry_stage_seconds_sum{stage="handover"} 0.004`,
		`tidemark_entry_stage_seconds_sum{stage="apply"} 0.005`, `tidemark_disk_write_seconds_sum 0.006`, `tidemark_disk_write_seconds_count 1`,
		`tidemark_api_connections 1`, `tidemark_api_streams 2`, `tidemark_api_calls 3`, `tidemark_api_call_bytes 4`,
		`tidemark_api_refused_connections_total 5`, `tidemark_api_busy_total 6`, `tidemark_api_panics_total 7`, `tidemark_api_stalled_total 8`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the page lacks %s", line)
		}
	}
}

// reportEntry tells what raft does of an entry that a follower stores and applies, which
// comes in one message and is committed by another.
func reportEntry(start time.Time) {
	rpc := []armon.Label{{Name: "rpcType", Value: "AppendEntries"}}
	for _, part := range []string{"storeLogs", "processLogs"} {
		armon.MeasureSince([]string{"raft", "net", "getRPCType"}, start)
		for _, stage := range []string{"rpcDecode", "rpcEnqueue", "rpcRespond"} {
			armon.MeasureSinceWithLabels([]string{"raft", "net", stage}, start, rpc)
		}
		armon.MeasureSince([]string{"raft", "rpc", "appendEntries", part}, start)
		armon.MeasureSince([]string{"raft", "rpc", "appendEntries"}, start)
	}
	for _, size := range []string{"logSize", "logsPerBatch", "logBatchSize", "writeCapacity"} {
		armon.AddSample([]string{"raft", "boltdb", size}, 1500)
	}
	armon.MeasureSince([]string{"raft", "boltdb", "storeLogs"}, start)
	armon.MeasureSince([]string{"raft", "fsm", "enqueue"}, start)
	armon.MeasureSince([]string{"raft", "fsm", "applyBatch"}, start)
	armon.AddSample([]string{"raft", "fsm", "applyBatchNum"}, 1)
}

// Of raft's metrics of an entry those of the whole are shown.
func TestRaftsMetricsOfTheWholeAreShown(t *testing.T) {
	m, err := newMetrics(newEntryFigures(), idle(t).Metrics)
	if err != nil {
		t.Fatal(err)
	}
	reportEntry(time.Now())
	var got []string
	for line := range strings.Lines(scrape(t, m)) {
		if name, ok := strings.CutPrefix(line, "# TYPE raft_"); ok {
			got = append(got, strings.TrimSpace(name))
		}
	}
	want := []string{"boltdb_storeLogs summary", "fsm_applyBatch summary", "rpc_appendEntries summary"}
	if !slices.Equal(got, want) {
		t.Errorf("shown are %q, want %q", got, want)
	}
}

func BenchmarkRaftsMetrics(b *testing.B) {
	if err := feedRaft(prometheus.NewRegistry()); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		reportEntry(start)
	}
}

// Whatever comes as a method, a code or a name, labels stay few and lines whole.
func TestLabelsAreBounded(t *testing.T) {
	m, err := newMetrics(newEntryFigures(), idle(t).Metrics)
	if err != nil {
		t.Fatal(err)
	}
	for code := range 256 {
		m.observe(server.Call{Method: "x\nforged_total 1", Code: offset.Code(code)})
	}
	armon.SetGaugeWithLabels([]string{"raft", "x\nforged_total"}, 1, []armon.Label{{Name: "peer_id", Value: "a\"\nforged_total 2\n"}})
	text := scrape(t, m)
	series := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "forged") {
			t.Errorf("a forged line: %q", line)
		}
		if strings.HasPrefix(line, "tidemark_api_calls_total{") {
			series++
		}
	}
	if want := len(offset.Codes()) + 1; series != want {
		t.Errorf("%d series of calls, want %d", series, want)
	}
	if !strings.Contains(text, `tidemark_api_calls_total{code="busy",method="other"} 1`) {
		t.Error("a strange method is not counted as other")
	}
}
