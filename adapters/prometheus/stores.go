package tidemarkprom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tidemark-mq/tidemark/client"
)

// Store is what Watch looks at: a client.RemoteStore or client.LocalFileStore.
type Store interface {
	// Stats tells how the store is; it is called at each scrape.
	Stats() client.StoreStats
}

// Watch adds a store to the gauges, which are sums over all that are watched,
// until the returned function is called. A store is watched once, however
// often Watch is called with it.
func (m *Metrics) Watch(s Store) (stop func()) { return m.stores.watch(s) }

// stores collects what stores tell of themselves at a scrape.
type stores struct {
	rows []row

	mu sync.Mutex
	// The fields below belong to mu.

	watched map[Store]struct{}
	// gone sums the counters of stores that are not watched any more.
	gone client.StoreStats
}

// row is a metric that is read from the sum of all stores.
type row struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(client.StoreStats) float64
}

func newStores() *stores {
	return &stores{
		watched: make(map[Store]struct{}),
		rows: []row{
			{queues.desc(), prometheus.GaugeValue, func(s client.StoreStats) float64 { return float64(s.Queues) }},
			{unpersisted.desc(), prometheus.GaugeValue, func(s client.StoreStats) float64 { return float64(s.Unpersisted) }},
			{frozen.desc(), prometheus.GaugeValue, func(s client.StoreStats) float64 { return float64(s.Frozen) }},
			{fallbacks.desc(), prometheus.CounterValue, func(s client.StoreStats) float64 { return float64(s.Fallbacks) }},
			{damaged.desc(), prometheus.CounterValue, func(s client.StoreStats) float64 { return float64(s.Damaged) }},
		},
	}
}

func (s *stores) watch(one Store) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched[one] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.watched[one]; !ok {
			return
		}
		delete(s.watched, one)
		st := one.Stats()
		s.gone.Fallbacks += st.Fallbacks
		s.gone.Damaged += st.Damaged
	}
}

// Describe is that of prometheus.Collector.
func (s *stores) Describe(ch chan<- *prometheus.Desc) {
	for _, r := range s.rows {
		ch <- r.desc
	}
}

// Collect is that of prometheus.Collector.
func (s *stores) Collect(ch chan<- prometheus.Metric) {
	sum := s.sum()
	for _, r := range s.rows {
		ch <- prometheus.MustNewConstMetric(r.desc, r.kind, r.read(sum))
	}
}

// sum adds up all stores.
func (s *stores) sum() client.StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := s.gone
	for one := range s.watched {
		st := one.Stats()
		sum.Queues += st.Queues
		sum.Unpersisted += st.Unpersisted
		sum.Frozen += st.Frozen
		sum.Fallbacks += st.Fallbacks
		sum.Damaged += st.Damaged
	}
	return sum
}
