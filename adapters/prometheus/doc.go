// Package tidemarkprom counts for Prometheus what the clients and stores of an
// application do.
//
//	m, err := tidemarkprom.New(prometheus.DefaultRegisterer)
//	c, err := client.New(seeds, client.WithMetrics(m)) // its RemoteStores are counted, too
//	s, err := client.NewRemoteStore(c, "billing")
//	stop := m.Watch(s)                                  // the gauges of a store
//	defer stop()
//
// One Metrics serves all clients and stores of a process. A LocalFileStore has
// no Client; it gets its Metrics by client.WithStoreMetrics.
//
// Labels are bounded: op is the name of a call, code that of an error, model
// that of a message model. Names of groups are a label only WithGroups, for an
// application that has few; names of topics, queues or nodes never are.
package tidemarkprom
