package server

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
)

// Config is what a Server is made of. Only Service is required; the zero value
// of everything else is a default.
type Config struct {
	// Service answers the calls. Required.
	Service Service
	// Limits bounds what peers can take. A field that is zero has its default.
	Limits Limits
	// Logger gets refused connections, panics and what net/http has to say. Nil logs nothing.
	Logger hclog.Logger
	// Metrics serves /metrics; nil: there is no such page.
	Metrics http.Handler
	// Observe is called with every call that ended, in the goroutine that served
	// it, so it must not block; many goroutines call it at once. Nil: nothing is.
	Observe func(Call)
	// TLS is what ports are served with, pages too; nil: cleartext. It needs a
	// certificate, and no NextProtos.
	TLS *tls.Config
	// Callers identifies callers. Nil: everybody is auth.Anonymous.
	Callers Callers
	// Denied is called with requests that were refused for the credentials that
	// they showed; it must not block. Nil: nothing is.
	Denied func(from, call string, err error)
	// Notes are lines for the page at the root that people should see, such as
	// files that cannot be used. It must not block. Nil: none.
	Notes func() []string
	// Version of the build, for the page at the root.
	Version string
}

// Call is a call that ended.
type Call struct {
	// Method is the name of the RPC in lower case: one of Methods.
	Method string
	// Items is how many keys or commits it carried.
	Items int
	// Code is CodeOK, or that of the error it was answered with.
	Code offset.Code
	// Took is the time between decoding the request and having its answer.
	Took time.Duration
}

// Methods are the values that Call.Method takes.
var Methods = []string{
	"commit", "set", "fetch",
	"list", "reset", "remove", "clone", "expire", "claim", "import", "export",
	"status", "addmember", "promotemember", "removemember", "transfer", "snapshot", "backup", "raiselevel",
}

// Stats is what a Server counts.
type Stats struct {
	// Connections, Streams, Calls and Bytes are what is open or under way now;
	// Bytes is what Limits.Bytes bounds, and what refusals take.
	Connections, Streams, Calls, Bytes int64
	// Since the start: connections refused for one of the two bounds,
	// calls answered with ErrBusy by this package, panics caught in handlers,
	// and peers that were cut off because they did not read.
	RefusedConnections, Busy, Panics, Stalled int64
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.withDefaults()
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Observe == nil {
		c.Observe = func(Call) {}
	}
	if c.Notes == nil {
		c.Notes = func() []string { return nil }
	}
	if c.Denied == nil {
		c.Denied = func(string, string, error) {}
	}
	if c.Version == "" {
		c.Version = "unknown"
	}
	return c
}
