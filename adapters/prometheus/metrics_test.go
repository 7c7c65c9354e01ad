package tidemarkprom

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// series gathers a registry: each series by its name and labels, histograms
// with the count of what they observed.
func series(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
			}
			switch {
			case m.GetCounter() != nil:
				out[name] = m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				out[name] = m.GetGauge().GetValue()
			default:
				out[name] = float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return out
}

// wantSeries checks some series, and the number of all if it is not 0.
func wantSeries(t *testing.T, reg *prometheus.Registry, all int, want map[string]float64) {
	t.Helper()
	got := series(t, reg)
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v, %v; want %v", name, g, ok, v)
		}
	}
	if all != 0 && len(got) != all {
		t.Errorf("%d series; want %d: %v", len(got), all, got)
	}
}

func create(t *testing.T, opts ...Option) (*Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	m, err := New(reg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

func TestOfALocalStore(t *testing.T) {
	m, reg := create(t)
	ctx, mq := context.Background(), offset.MessageQueue{Topic: "prices", Broker: "b"}
	s, err := client.NewLocalFileStore("here@DEFAULT", "screens", client.WithLocalDir(t.TempDir()),
		client.WithPersistInterval(0), client.WithStoreMetrics(m), client.WithStoreLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	stop := m.Watch(s)
	m.Watch(s) // once is enough
	s.UpdateOffset(mq, 7, true)
	wantSeries(t, reg, 8, map[string]float64{"tidemark_store_queues": 1, "tidemark_store_unpersisted_queues": 1, "tidemark_store_frozen_queues": 0})
	if err := s.Persist(ctx, mq); err != nil {
		t.Fatal(err)
	}
	s.UpdateOffset(offset.MessageQueue{Topic: "a\nb"}, 7, true) // a name that no file takes
	if err := s.Close(ctx); err == nil {
		t.Fatal("an invalid name was persisted")
	}
	wantSeries(t, reg, 0, map[string]float64{
		"tidemark_store_runs_total code=ok model=broadcasting":      1,
		"tidemark_store_runs_total code=invalid model=broadcasting": 1,
		"tidemark_store_run_seconds model=broadcasting":             2,
		"tidemark_store_persisted_total model=broadcasting":         1,
		"tidemark_store_failed_total model=broadcasting":            1,
		"tidemark_store_queues":                                     2,
		"tidemark_store_unpersisted_queues":                         1,
	})
	stop()
	wantSeries(t, reg, 0, map[string]float64{"tidemark_store_queues": 0})
}

// TestADiskThatFailsIsNamed: it is no unknown outcome, and never hides another cause.
func TestADiskThatFailsIsNamed(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "offsets.json", Err: syscall.ENOSPC}
	for want, err := range map[string]error{
		"disk":            &client.PersistError{Queues: []client.QueueError{{Err: full}}},
		"outcome_unknown": fmt.Errorf("%w: %w", offset.ErrOutcomeUnknown, full),
		"unreachable":     fmt.Errorf("%w: %w", offset.ErrUnreachable, syscall.ECONNREFUSED),
		"not_read":        offset.ErrNotRead,
		"ok":              nil,
	} {
		if got := code(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// TestDamagedFilesAreCounted (C04): also once the store is not watched any more.
func TestDamagedFilesAreCounted(t *testing.T) {
	m, reg := create(t)
	dir := t.TempDir()
	s, err := client.NewLocalFileStore("c", "g", client.WithLocalDir(dir), client.WithPersistInterval(0),
		client.WithDamageIgnored(), client.WithStoreLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(s.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.Path(), s.Path() + ".bak"} {
		if err := os.WriteFile(path, make([]byte, 64), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	stop := m.Watch(s)
	for range 2 {
		wantSeries(t, reg, 0, map[string]float64{"tidemark_store_damaged_files_total": 2, "tidemark_store_fallbacks_total": 0})
		stop()
	}
}

// TestOfAClient: a node that agrees to each stream, and closes it.
func TestOfAClient(t *testing.T) {
	m, reg := create(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for nc, err := l.Accept(); err == nil; nc, err = l.Accept() {
			if _, err := http.ReadRequest(bufio.NewReader(nc)); err == nil {
				_, _ = io.WriteString(nc, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: tidemark-stream\r\n\r\n")
			}
			_ = nc.Close()
		}
	})
	c, err := client.New([]string{l.Addr().String()}, client.WithMetrics(m))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	if _, _, err := c.Fetch(ctx, offset.ReadAt{}, k); !errors.Is(err, offset.ErrUnreachable) {
		t.Fatal(err)
	}
	_ = c.Close()
	_ = l.Close()
	accepting.Wait()
	wantSeries(t, reg, 0, map[string]float64{
		"tidemark_client_calls_total code=unreachable op=fetch": 1,
		"tidemark_client_call_seconds op=fetch":                 1,
		"tidemark_client_connections":                           0,
	})
	got := series(t, reg)
	if got["tidemark_client_retries_total op=fetch"] < 1 || got["tidemark_client_connects_total"] < 1 {
		t.Errorf("no retries, or no connections: %v", got)
	}
}

func TestGroupsAreALabelOnlyIfAsked(t *testing.T) {
	for _, groups := range []bool{false, true} {
		opt, label := Option(nil), ""
		if groups {
			opt, label = WithGroups(), " group=billing"
		}
		m, reg := create(t, opt)
		m.LeaderChange()
		for _, group := range []string{"billing", "audit"} {
			m.Fence(group, offset.ErrFenced)
			m.Fence(group, offset.ErrOvertaken)
			m.Persist(client.PersistRun{Model: client.Clustering, Group: group, Failed: 2, Err: offset.ErrDropped})
		}
		n := 2.0
		if groups {
			n = 1
		}
		wantSeries(t, reg, 0, map[string]float64{
			"tidemark_client_leader_changes_total":                                 1,
			"tidemark_store_fences_total code=fenced" + label:                      n,
			"tidemark_store_fences_total code=overtaken" + label:                   n,
			"tidemark_store_runs_total code=dropped" + label + " model=clustering": n,
			"tidemark_store_failed_total" + label + " model=clustering":            2 * n,
			"tidemark_store_persisted_total" + label + " model=clustering":         0,
			"tidemark_store_run_seconds model=clustering":                          2,
		})
	}
}

// TestOneMetricsARegistry: a second one is refused, and leaves nothing behind.
func TestOneMetricsARegistry(t *testing.T) {
	reg := prometheus.NewRegistry()
	other := fences.counter(false)
	reg.MustRegister(other)
	if _, err := New(reg); err == nil {
		t.Fatal("a name that is taken was registered")
	}
	reg.Unregister(other)
	if _, err := New(reg); err != nil {
		t.Fatalf("the first try left something behind: %v", err)
	}
	if _, err := New(reg); err == nil {
		t.Fatal("one registry took two")
	}
}

// TestTableIsDocumented: each metric is a row of the documentation, and what a
// registry has is in the table.
func TestTableIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		labels := strings.Join(f.labels, ", ")
		if f.group {
			labels = strings.TrimSuffix("(group), "+labels, ", ")
		}
		row := fmt.Sprintf("| `%s%s` | %s | %s | %s |\n", namespace, f.name, f.kind, labels, f.help)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/library.md lacks the row\n%s", row)
		}
	}
	m, reg := create(t)
	m.Call(client.CallEnd{Op: "commit", Attempts: 2})
	m.Persist(client.PersistRun{})
	m.Fence("g", offset.ErrFenced)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if !slices.ContainsFunc(figures, func(g figure) bool { return namespace+g.name == f.GetName() }) {
			t.Errorf("%s is not in the table", f.GetName())
		}
	}
	if len(families) != len(figures) {
		t.Errorf("%d metrics; the table has %d", len(families), len(figures))
	}
}
