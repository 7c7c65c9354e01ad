package main

import (
	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/cmd/tidemark/internal/contexts"
)

// defaultEndpoint is asked where nothing else is said: a node on this machine.
const defaultEndpoint = "127.0.0.1:7411"

// reach finds the context that is asked, saved or made up of flags: for the
// endpoints a flag comes before the environment, and that before the context in
// use.
func (s *session) reach(a *app, command *kong.Context) (contexts.Context, error) {
	byFlag := map[string]bool{}
	for _, p := range command.Path {
		if p.Flag != nil {
			byFlag[p.Flag.Name] = true
		}
	}
	switch {
	case byFlag["context"] && byFlag["endpoints"]:
		return contexts.Context{}, exitf(exitUsage, "--endpoints and --context both say what to ask; leave one out")
	case byFlag["context"]:
		return s.contextOf(a.Context)
	case len(a.Endpoints) > 0:
		return contexts.Context{Endpoints: a.Endpoints}, nil
	}
	return s.contextOf(a.Context)
}

// contextOf gives a saved context; without a name, the one in use, and where
// none is, the default.
func (s *session) contextOf(name string) (contexts.Context, error) {
	f, _, err := s.contexts()
	if err != nil {
		return contexts.Context{}, err
	}
	if name == "" {
		name = f.Current()
	}
	if name == "" {
		return contexts.Context{Endpoints: []string{defaultEndpoint}}, nil
	}
	return f.Get(name)
}
