package embedded

import (
	"context"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
)

// toHclog is a logger of the node's kind that writes there; nil drops everything.
func toHclog(to *slog.Logger) hclog.Logger {
	if to == nil {
		return hclog.NewNullLogger()
	}
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "tidemark", Level: hclog.Off, Output: io.Discard})
	l.RegisterSink(sink{to})
	return l
}

// sink hands what is logged on to a slog.Logger, which decides what is shown.
type sink struct{ to *slog.Logger }

// Accept takes one line.
func (s sink) Accept(name string, level hclog.Level, msg string, args ...any) {
	ctx, at := context.Background(), slogLevel(level)
	if !s.to.Enabled(ctx, at) {
		return
	}
	s.to.Log(ctx, at, msg, append([]any{"from", name}, args...)...)
}

// slogLevel gives a level of hclog's in the terms of slog, where trace is below debug.
func slogLevel(l hclog.Level) slog.Level {
	switch {
	case l <= hclog.Trace:
		return slog.LevelDebug - 4
	case l == hclog.Debug:
		return slog.LevelDebug
	case l == hclog.Info:
		return slog.LevelInfo
	case l == hclog.Warn:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// version is that of this module in the program, for status and pages.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, m := range append(b.Deps, &b.Main) {
		if m.Path == "github.com/tidemark-mq/tidemark" && m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}
