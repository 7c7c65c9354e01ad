package auth

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

const policy = `
rules:
  - {callers: [billing-app], may: [commit], groups: ["billing-*", orders], topics: ["t*"]}
  - {callers: [broker-a], may: [admin], brokers: [broker-a]}
  - {callers: [tool], may: [commit], brokers: [""]}
  - {callers: [ops], may: [admin]}
  - {callers: ["*"], may: [read], groups: ["public-*"]}
  - {callers: [anonymous], may: [read], groups: [open]}
`

func rules(t *testing.T) *Rules {
	t.Helper()
	r, err := ParseRules([]byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRules: who may do what, by the policy above; what is not named is denied.
func TestRules(t *testing.T) {
	r := rules(t)
	group := func(name Names) Scope { return Scope{name, All, All} }
	for _, c := range []struct {
		name  string
		a     Action
		s     Scope
		allow bool
	}{
		{"billing-app", Commit, Key("billing-1", "t1", "b"), true},
		{"billing-app", Read, Key("billing-1", "t1", "b"), true}, // commit holds read
		{"billing-app", Operate, Key("billing-1", "t1", "b"), false},
		{"billing-app", Administer, Everything, false},
		{"billing-app", Look, Everything, true},
		{"billing-app", Stage, Everything, false},
		{"billing-app", Commit, Key("billing", "t1", "b"), false},  // the prefix ends with a dash
		{"billing-app", Commit, Key("orders", "t1", "b"), true},    // an exact name
		{"billing-app", Commit, Key("orders-2", "t1", "b"), false}, // is no prefix
		{"billing-app", Commit, Key("orders", "x", "b"), false},
		{"billing-app", Read, Scope{Only("orders"), All, All}, false}, // all topics are more than t*
		{"billing-app", Read, Scope{Beginning("billing-x"), Beginning("t"), All}, true},
		{"billing-app", Read, Scope{Beginning("billing"), Beginning("t"), All}, false},
		{"billing-app", Read, group(All), false},
		{"billing-app", Read, Key("public-x", "y", "z"), true}, // by the rule for everyone
		{"broker-a", Operate, Scope{All, All, Only("broker-a")}, true},
		{"broker-a", Operate, Key("g", "t", "broker-a"), true},
		{"broker-a", Operate, Key("g", "t", "broker-b"), false},
		{"broker-a", Operate, group(Only("g")), false}, // on all brokers
		{"broker-a", Stage, Everything, true},
		{"broker-a", Administer, Everything, false}, // limited admins administer nothing
		{"tool", Commit, Key("g", "t", ""), true},
		{"tool", Commit, Key("g", "t", "b"), false},
		{"ops", Operate, Everything, true},
		{"ops", Administer, Everything, true},
		{"ops", Commit, Key("g", "t", "b"), true},
		{"other", Read, Key("public-x", "y", "z"), true},
		{"other", Commit, Key("public-x", "y", "z"), false},
		{"other", Read, Key("g", "t", "b"), false},
		{"anonymous", Read, Key("open", "t", "b"), true},
		{"anonymous", Read, Key("public-x", "y", "z"), false}, // not one of everyone
		{"", Read, Key("open", "t", "b"), false},
		{"", Look, Everything, false},
		{"ops", Stage + 1, Everything, false},
	} {
		err := r.Allow(Principal{Name: c.name}, c.a, c.s)
		if (err == nil) != c.allow || err != nil && !errors.Is(err, offset.ErrDenied) {
			t.Errorf("%q, %s, %+v: %v", c.name, c.a, c.s, err)
		}
	}
}

func TestDenialsSayWhatIsMissing(t *testing.T) {
	r := rules(t)
	for _, c := range []struct {
		p    Principal
		a    Action
		s    Scope
		want string
	}{
		{Principal{Name: "x\n"}, Commit, Key("g", "t", "b"), `does not give "x\n" the right to commit on group "g" topic "t" broker "b"`},
		{Anonymous("f"), Read, Everything, "callers without a token or certificate the right to read on everything; name a group"},
		{Principal{Name: "broker-a"}, Administer, Everything, "the right to admin without limits"},
		{Anonymous("f"), Stage, Everything, "the right to admin on anything"},
	} {
		if err := r.Allow(c.p, c.a, c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestPoliciesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":          "no rule",
		"rules: []": "no rule",
		"rule: []":  "rule",
		"{":         "not a policy",
		"rules: [{callers: [a], may: [read], grups: [x]}]":         "grups",
		"rules: [{may: [read]}]":                                   "callers is missing",
		"rules: [{callers: [a]}]":                                  "may is missing",
		"rules: [{callers: [a], may: [write]}]":                    `"write" is not a right`,
		"rules: [{callers: ['a*'], may: [read]}]":                  "one by one",
		"rules: [{callers: [''], may: [read]}]":                    "caller",
		"rules: [{callers: [a], may: [read], groups: []}]":         "groups is empty",
		"rules: [{callers: [a], may: [read], groups: ['']}]":       "groups",
		"rules: [{callers: [a], may: [read], groups: }]":           "groups is empty", // as a template leaves it
		"rules:\n- callers: [a]\n  may: [read]\n  brokers:\n":      "brokers is empty",
		"rules: [{callers: [a], may: [read], topics: ~}]":          "topics is empty",
		"rules: [{callers: [a], may: [read], topics: {a: b}}]":     "topics",
		"rules: [{callers: [a], may: [read], topics: [~]}]":        "topics",
		"rules: [{callers: [a], may: [read], topics: ['a*b']}]":    "at the end alone",
		"rules: [{callers: [a], may: [read]}]\n---\nrules: []":     "second document",
		"rules: [{callers: [a], may: [read], groups: [\"a\\n\"]}]": "groups",
	} {
		if _, err := ParseRules([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestPoliciesOfManyNames: what is kept grows with the file, and not with its
// names times its rules, which would be some ten million here.
func TestPoliciesOfManyNames(t *testing.T) {
	var list []*rule
	for i := range maxRules {
		list = append(list, &rule{callers: []string{everyone, fmt.Sprint("app-", i)}, groups: []Names{Only(fmt.Sprint(i))}, topics: []Names{All}, brokers: []Names{All}})
		list[i].actions[Read] = true
	}
	r, kept := newRules(list), 0
	for _, g := range r.byName {
		kept += len(g.rules)
	}
	if kept += len(r.known.rules); kept != 2*maxRules {
		t.Errorf("%d rules are kept", kept)
	}
	if err := r.Allow(Principal{Name: "app-1"}, Read, Key("2", "t", "b")); err != nil {
		t.Error(err)
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte(policy))
	f.Add([]byte("rules: [{callers: [a], may: [read], groups: ['*']}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseRules(text)
		if err != nil {
			return
		}
		if r.Allow(Principal{}, Read, Everything) == nil {
			t.Error("nobody may read everything")
		}
	})
}

func BenchmarkAllow(b *testing.B) {
	r, err := ParseRules([]byte(policy))
	if err != nil {
		b.Fatal(err)
	}
	p, s := Principal{Name: "billing-app"}, Key("billing-1", "t1", "broker-a")
	b.ReportAllocs()
	for b.Loop() {
		if r.Allow(p, Commit, s) != nil {
			b.Fatal("denied")
		}
	}
}
