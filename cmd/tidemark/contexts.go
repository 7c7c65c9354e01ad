package main

import (
	"os"
	"strings"

	"github.com/tidemark-mq/tidemark/cmd/tidemark/internal/contexts"
	"github.com/tidemark-mq/tidemark/offset"
)

// contextsCmd holds what concerns saved endpoints. None of it asks a cluster.
type contextsCmd struct {
	List   contextsListCmd   `cmd:"" help:"List the saved contexts."`
	Add    contextsAddCmd    `cmd:"" help:"Save endpoints under a name."`
	Use    contextsUseCmd    `cmd:"" help:"Make a context the one in use, for all runs without --endpoints and --context."`
	Show   contextsShowCmd   `cmd:"" help:"Show one context, or the one in use."`
	Remove contextsRemoveCmd `cmd:"" help:"Forget a context."`
}

// contextRow is one saved context.
type contextRow struct {
	Name      string   `json:"name"`
	Endpoints []string `json:"endpoints"`
	// Current: it is the one in use.
	Current bool `json:"current"`
	contexts.Credentials
}

// contextsResult is a list of contexts.
type contextsResult struct {
	// File is where they are saved.
	File     string       `json:"file"`
	Contexts []contextRow `json:"contexts"`
}

func (r *contextsResult) table(t *table) {
	if len(r.Contexts) == 0 {
		return
	}
	t.row("CONTEXT", "ENDPOINTS", "")
	for i := range r.Contexts {
		c := &r.Contexts[i]
		t.row(shown(c.Name), c.endpoints(), c.mark())
	}
}

func (r *contextRow) table(t *table) {
	t.line("context %s: %s %s", shown(r.Name), r.endpoints(), r.mark())
	for _, part := range []struct{ what, file string }{{"ca", r.CA}, {"cert", r.Cert}, {"key", r.Key}, {"token-file", r.TokenFile}} {
		if part.file != "" {
			t.line("  %s: %s", part.what, shown(part.file))
		}
	}
}

func (r *contextRow) endpoints() string { return shown(strings.Join(r.Endpoints, ",")) }

func (r *contextRow) mark() string {
	if r.Current {
		return "(in use)"
	}
	return ""
}

func rowOfContext(f *contexts.File, c contexts.Context) contextRow {
	return contextRow{c.Name, c.Endpoints, c.Name == f.Current(), c.Credentials}
}

// contextsListCmd lists contexts.
type contextsListCmd struct{}

// Run lists what is saved.
func (contextsListCmd) Run(s *session) error {
	f, path, err := s.contexts()
	if err != nil {
		return err
	}
	r := &contextsResult{File: path, Contexts: []contextRow{}}
	for _, c := range f.List() {
		r.Contexts = append(r.Contexts, rowOfContext(f, c))
	}
	return s.print(r)
}

// contextsAddCmd saves a context, with the flags that say how it is spoken to.
type contextsAddCmd struct {
	Name    string   `arg:"" help:"Name of the context."`
	Members []string `arg:"" help:"API addresses (host:port) of members." placeholder:"HOST:PORT"`
	Use     bool     `help:"Also make it the one in use."`
	Replace bool     `help:"Replace a context of that name."`
}

// Run saves it.
func (c *contextsAddCmd) Run(s *session) error {
	var members []string
	for _, m := range c.Members {
		members = append(members, strings.Split(m, ",")...)
	}
	if err := s.secured(s.own.over(contexts.Credentials{})); err != nil {
		return err
	}
	cluster, err := s.connect(members)
	if err != nil {
		return err
	}
	_ = cluster.Close() // it was made to look at the addresses only
	return s.changeContexts(func(f *contexts.File) (string, error) {
		if err := f.Add(contexts.Context{Name: c.Name, Endpoints: members, Credentials: s.own.over(contexts.Credentials{})}, c.Replace); err != nil || !c.Use {
			return c.Name, err
		}
		return c.Name, f.Use(c.Name)
	})
}

// contextsUseCmd makes a context the one in use.
type contextsUseCmd struct {
	Name string `arg:"" help:"Name of the context."`
}

// Run makes it the current one.
func (c *contextsUseCmd) Run(s *session) error {
	if err := offset.ValidateName("context", c.Name, false); err != nil {
		return err
	}
	return s.changeContexts(func(f *contexts.File) (string, error) { return c.Name, f.Use(c.Name) })
}

// contextsShowCmd shows a context.
type contextsShowCmd struct {
	Name string `arg:"" optional:"" help:"Name of the context; the one in use if not given."`
}

// Run shows it; where none is in use, that is exit code 7.
func (c *contextsShowCmd) Run(s *session) error {
	f, _, err := s.contexts()
	if err != nil {
		return err
	}
	name := c.Name
	if name == "" {
		name = f.Current()
	}
	if name == f.Current() {
		s.noteWinner(name)
	}
	if name == "" {
		return offset.Errorf(offset.ErrNotFound, "no context is in use; `tidemark contexts use` chooses one, and without one %s is asked", defaultEndpoint)
	}
	x, err := f.Get(name)
	if err != nil {
		return err
	}
	row := rowOfContext(f, x)
	return s.print(&row)
}

// noteWinner says that a variable comes before the context in use.
func (s *session) noteWinner(current string) {
	variable := "TIDEMARK_ENDPOINTS"
	if os.Getenv(variable) == "" {
		variable = "TIDEMARK_CONTEXT"
	}
	if v := os.Getenv(variable); v != "" && v != current {
		s.note("%s is set, to %s, and wins over the context in use until it is unset", variable, shown(v))
	}
}

// contextsRemoveCmd forgets a context.
type contextsRemoveCmd struct {
	Name string `arg:"" help:"Name of the context."`
}

// Run forgets it.
func (c *contextsRemoveCmd) Run(s *session) error {
	return s.changeContexts(func(f *contexts.File) (string, error) { return "", f.Remove(c.Name) })
}

// contexts reads what is saved, and tells where.
func (s *session) contexts() (*contexts.File, string, error) {
	path := s.saved
	if path == "" {
		var err error
		if path, err = contexts.Path(); err != nil {
			return nil, "", err
		}
	}
	f, err := contexts.Read(path)
	return f, path, err
}

// changeContexts changes what is saved, and shows the context that change
// names, or all if it names none.
func (s *session) changeContexts(change func(*contexts.File) (show string, err error)) error {
	f, path, err := s.contexts()
	if err != nil {
		return err
	}
	name, err := change(f)
	if err != nil {
		return err
	}
	if err := f.Write(path); err != nil {
		return err
	}
	if name == "" {
		return contextsListCmd{}.Run(s)
	}
	return (&contextsShowCmd{name}).Run(s)
}
