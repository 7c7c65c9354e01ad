package auth

import (
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	one, two, other := NewToken(), NewToken(), NewToken()
	if one == two || len(one) != len(tokenPrefix)+43 {
		t.Fatalf("%q, %q", one, two)
	}
	line := func(name, token string) string {
		t.Helper()
		l, err := TokenLine(name, token)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(l, token) {
			t.Fatal("the line holds the token")
		}
		return l
	}
	tokens, err := ParseTokens([]byte("# ours\n\n" + line("a", one) + " # until May\n" + line("a", two) + "\n" + line("b", other)))
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		one: "a", two: "a", other: "b", NewToken(): "", "": "", one[:len(one)-1]: "", one + "x": "", strings.Repeat("x", 1<<20): "",
	} {
		if got, ok := tokens.Name(token); got != want || ok != (want != "") {
			t.Errorf("%.60q is %q, want %q", token, got, want)
		}
	}
}

// TestTokenFilesThatAreNone: what is wrong is named by its line, and never
// shown, since it may be a token that was put there by mistake.
func TestTokenFilesThatAreNone(t *testing.T) {
	token := NewToken()
	good, _ := TokenLine("a", token)
	_, sum, _ := strings.Cut(good, " ")
	for text, want := range map[string]string{
		"":                       "no token",
		"# nobody":               "no token",
		"\na " + token:           "line 2",
		"a":                      "line 1",
		"a b " + sum:             "line 1",
		"a " + sum[1:]:           "line 1",
		"anonymous " + sum:       "choose another",
		"* " + sum:               "choose another",
		good + "\n" + "b " + sum: `the token of "a"`,
	} {
		_, err := ParseTokens([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, name := range []string{"", "anonymous", "a b", "a#", "*", "a\n", strings.Repeat("x", 300)} {
		if _, err := TokenLine(name, token); err == nil {
			t.Errorf("a token for %.20q", name)
		}
	}
}

func FuzzParseTokens(f *testing.F) {
	line, _ := TokenLine("a", NewToken())
	f.Add([]byte(line))
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, err := ParseTokens(text)
		if err != nil {
			return
		}
		for _, e := range tokens.held {
			if validateCaller(e.name) != nil {
				t.Errorf("%q is a caller", e.name)
			}
		}
	})
}
