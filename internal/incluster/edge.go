package incluster

import (
	"context"
	"time"

	"github.com/tidemark-mq/tidemark/transport/server"
)

// Served has each member serve its API at port 7411 of its host. wrap, if not
// nil, makes what is served of what the member offers.
func Served(wrap func(*Member, server.Service) server.Service) Option {
	return func(m *Member) {
		m.Edge = func(m *Member) func() {
			var service server.Service = m.Node()
			if wrap != nil {
				service = wrap(m, service)
			}
			return m.serve(service)
		}
	}
}

// serve serves until the returned function is called.
func (m *Member) serve(service server.Service) (end func()) {
	s := server.New(server.Config{Service: service, Logger: m.Config.Logger.Named("api"), Version: "test"})
	l, err := m.Listen(":7411")
	if err != nil {
		m.TB().Fatalf("%s can't serve: %v", m.Name, err)
	}
	done := make(chan struct{})
	go func() { // the returned function waits for it
		defer close(done)
		_ = s.Serve(l) // a kill takes the listener away
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx) // after a kill there is nobody left to tell
		<-done
	}
}
