package main

import "github.com/alecthomas/kong"

// defaultEndpoint is asked where nothing else is said: a node on this machine.
const defaultEndpoint = "127.0.0.1:7411"

// reach finds the endpoints: a flag comes before the environment, and that
// before the context in use.
func (s *session) reach(a *app, command *kong.Context) ([]string, error) {
	byFlag := map[string]bool{}
	for _, p := range command.Path {
		if p.Flag != nil {
			byFlag[p.Flag.Name] = true
		}
	}
	switch {
	case byFlag["context"] && byFlag["endpoints"]:
		return nil, exitf(exitUsage, "--endpoints and --context both say what to ask; leave one out")
	case byFlag["context"]:
		return s.endpointsOf(a.Context)
	case len(a.Endpoints) > 0:
		return a.Endpoints, nil
	}
	return s.endpointsOf(a.Context)
}

// endpointsOf gives those of a saved context; without a name, of the one in
// use, and where none is, the default.
func (s *session) endpointsOf(name string) ([]string, error) {
	f, _, err := s.contexts()
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = f.Current()
	}
	if name == "" {
		return []string{defaultEndpoint}, nil
	}
	c, err := f.Get(name)
	return c.Endpoints, err
}
