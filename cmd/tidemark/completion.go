package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/cmd/internal/complete"
	"github.com/tidemark-mq/tidemark/offset"
)

// completionCmd helps shells.
type completionCmd struct {
	Bash  shellCmd `cmd:"" help:"Print what bash reads: source <(tidemark completion bash)."`
	Zsh   shellCmd `cmd:"" help:"Print what zsh reads: source <(tidemark completion zsh), or a file _tidemark in its fpath."`
	Fish  shellCmd `cmd:"" help:"Print what fish reads: tidemark completion fish | source."`
	Words wordsCmd `cmd:"" hidden:"" help:"Print what may replace the last word."`
}

// shellCmd prints the script of the shell that it is named for.
type shellCmd struct{}

// Run prints it.
func (shellCmd) Run(s *session, command *kong.Context) error {
	return s.text(complete.Script(command.Selected().Name, "tidemark"))
}

// text writes to standard output what has one form only.
func (s *session) text(text string) error {
	if _, err := fmt.Fprint(s.out, text); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// wordsCmd is what the scripts run.
type wordsCmd struct {
	Shell string   `help:"Shell that asks: ${enum}." enum:"bash,zsh,fish" default:"fish"`
	Words []string `arg:"" optional:"" help:"The words after the program's name, up to the one to complete."`
}

// lookup bounds what asking the cluster for names may take, at each completion.
const (
	lookupTime  = 500 * time.Millisecond
	lookupNames = 100
)

// Run prints suggestions. Names of groups and topics come from the cluster if it
// answers at once; nothing is said if it does not.
func (c *wordsCmd) Run(s *session, command *kong.Context) error {
	words, cut := complete.Joined(c.Shell, c.Words)
	given := complete.Suggest(command.Model.Node, words)
	files := false
	if v := given.Value; v != nil && v.Enum == "" {
		files = takesFiles(v)
		for _, name := range s.namesFor(v, command, given) {
			given.Offer(name)
		}
	}
	return complete.Print(s.out, c.Shell, given, cut, files)
}

// takesFiles tells whether a value is a path.
func takesFiles(v *kong.Value) bool {
	return slices.Contains([]string{"file", "dir", "path", "base"}, v.Name)
}

// namesFor gives names that could be the value.
func (s *session) namesFor(v *kong.Value, command *kong.Context, given complete.Suggestion) []string {
	l := offset.List{At: offset.ReadAt{Level: offset.Local}, Limit: lookupNames, Prefix: given.Partial}
	switch v.Name {
	case "group", "without", "from":
		l.What = offset.ListGroups
	case "topic":
		l.What = offset.ListTopics
	case "context":
		return s.contextNames()
	default:
		return nil
	}
	endpoints, err := s.reachable(command, given.Flags)
	if err != nil {
		return nil
	}
	return s.namesAt(endpoints, l)
}

func (s *session) contextNames() (names []string) {
	f, _, err := s.contexts()
	if err != nil {
		return nil
	}
	for _, c := range f.List() {
		names = append(names, c.Name)
	}
	return names
}

// reachable are the endpoints that the words so far, or the environment, name.
func (s *session) reachable(command *kong.Context, flags map[string]string) ([]string, error) {
	if e := flags["endpoints"]; e != "" {
		return strings.Split(e, ","), nil
	}
	name := flags["context"]
	for _, f := range command.Model.Flags {
		switch v := f.Target.Interface().(type) {
		case []string:
			if name == "" && f.Name == "endpoints" && len(v) > 0 {
				return v, nil
			}
		case string:
			if name == "" && f.Name == "context" {
				name = v
			}
		}
	}
	return s.asked(name)
}

// namesAt asks a cluster.
func (s *session) namesAt(endpoints []string, l offset.List) []string {
	c, err := s.connect(endpoints)
	if err != nil {
		return nil
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(s.ctx, lookupTime)
	defer cancel()
	p, err := c.List(ctx, l)
	if err != nil {
		return nil
	}
	return p.Names
}
