package main

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cmd/tidemark/internal/contexts"
)

// TestWhoseTokenIsShown: a flag, or its variable, wins over a token in the
// environment, and both over what a context saves: nobody acts as somebody else
// than they said.
func TestWhoseTokenIsShown(t *testing.T) {
	for _, c := range []struct{ flag, variable, saved, want string }{
		{"", "", "saved", "saved"},
		{"", "tdm_x\n", "saved", ""},
		{"flag", "tdm_x", "saved", "flag"},
		{"flag", "", "saved", "flag"},
		{"", " \n", "saved", "saved"},
		{"", "", "", ""},
	} {
		t.Setenv(tokenVariable, c.variable)
		got := (&credentials{TokenFile: c.flag}).over(contexts.Credentials{TokenFile: c.saved})
		if got.TokenFile != c.want {
			t.Errorf("%+v: the token of the file %q", c, got.TokenFile)
		}
	}
}
