package main

import (
	"github.com/tidemark-mq/tidemark/auth"
)

// tokenCmd makes a token. It asks no cluster: who runs the nodes puts the line
// into their files.
type tokenCmd struct {
	Name string `arg:"" help:"Name of the caller, as the policy has it."`
	Out  string `help:"File to write the token to instead of showing it; there must be none of that name." type:"path" placeholder:"FILE"`
}

// tokenResult is a new token.
type tokenResult struct {
	// Token is what the caller shows; empty where it is in a file.
	Token string `json:"token,omitempty"`
	File  string `json:"file,omitempty"`
	// Line is that of the nodes' file (--tokens).
	Line string `json:"line"`
}

func (r *tokenResult) table(t *table) {
	if r.Token != "" {
		t.line("token, for the caller alone; it is shown this once:  %s", r.Token)
	} else {
		t.line("token, for the caller alone:  in %s", r.File)
	}
	t.line("line for the file of --tokens of every node:")
	t.line("%s", r.Line)
}

// Run draws a token.
func (c *tokenCmd) Run(s *session) error {
	token := auth.NewToken()
	line, err := auth.TokenLine(c.Name, token)
	if err != nil {
		return err
	}
	r := &tokenResult{Token: token, Line: line}
	if c.Out != "" {
		if err := writeNew(c.Out, []byte(token+"\n")); err != nil {
			return err
		}
		s.changed = true
		r.Token, r.File = "", c.Out
	}
	return s.print(r)
}
