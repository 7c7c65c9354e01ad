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

// stores collects the gauges of stores as they are at a scrape.
type stores struct {
	queues, unpersisted, frozen *prometheus.Desc

	mu sync.Mutex
	// The field below belongs to mu.

	watched map[Store]struct{}
}

func newStores() *stores {
	return &stores{
		queues: queues.desc(), unpersisted: unpersisted.desc(), frozen: frozen.desc(),
		watched: make(map[Store]struct{}),
	}
}

func (s *stores) watch(one Store) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched[one] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watched, one)
	}
}

// Describe is that of prometheus.Collector.
func (s *stores) Describe(ch chan<- *prometheus.Desc) {
	ch <- s.queues
	ch <- s.unpersisted
	ch <- s.frozen
}

// Collect is that of prometheus.Collector.
func (s *stores) Collect(ch chan<- prometheus.Metric) {
	s.mu.Lock()
	var list []Store
	for one := range s.watched {
		list = append(list, one)
	}
	s.mu.Unlock()
	var sum client.StoreStats
	for _, one := range list {
		st := one.Stats()
		sum.Queues += st.Queues
		sum.Unpersisted += st.Unpersisted
		sum.Frozen += st.Frozen
	}
	ch <- prometheus.MustNewConstMetric(s.queues, prometheus.GaugeValue, float64(sum.Queues))
	ch <- prometheus.MustNewConstMetric(s.unpersisted, prometheus.GaugeValue, float64(sum.Unpersisted))
	ch <- prometheus.MustNewConstMetric(s.frozen, prometheus.GaugeValue, float64(sum.Frozen))
}
