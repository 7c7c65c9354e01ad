package main

import (
	"runtime"
	"runtime/debug"

	"github.com/tidemark-mq/tidemark/offset"
)

// versionCmd shows the version.
type versionCmd struct{}

// versionResult is what this program is.
type versionResult struct {
	Version     string `json:"version"`
	Revision    string `json:"revision,omitempty"`
	Go          string `json:"go"`
	FormatLevel int    `json:"formatLevel"`
}

func (r *versionResult) table(t *table) {
	t.line("tidemark %s %s %s, format level %d", r.Version, r.Revision, r.Go, r.FormatLevel)
}

// Run prints the version that the build recorded.
func (versionCmd) Run(s *session) error { return s.print(built()) }

// built is what the build recorded.
func built() *versionResult {
	r := &versionResult{Version: "(devel)", Go: runtime.Version(), FormatLevel: offset.FormatLevel}
	if b, ok := debug.ReadBuildInfo(); ok {
		if b.Main.Version != "" {
			r.Version = b.Main.Version
		}
		for _, kv := range b.Settings {
			if kv.Key == "vcs.revision" {
				r.Revision = kv.Value
			}
		}
	}
	return r
}
