package auth

import (
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// Rules is a Policy by rules, as a policy file has them. Nobody may do what no
// rule permits. It does not change.
type Rules struct {
	// byName holds what each name that a rule spells out may do, the rules for
	// everyone among it; known is that of the others, for who has a name.
	byName map[string]*grants
	known  *grants
}

// rule permits some actions on keys to some callers.
type rule struct {
	callers                 []string
	actions                 [Stage + 1]bool
	groups, topics, brokers []Names
}

// grants are the rules of one caller.
type grants struct {
	// whole: the action is permitted on everything; some: on something.
	whole, some [Stage + 1]bool
	rules       []*rule
}

// everyone in a rule is each caller that showed who it is.
const everyone = "*"

func newRules(list []*rule) *Rules {
	r := &Rules{byName: map[string]*grants{}, known: grantsOf(list, everyone)}
	for _, ru := range list {
		for _, name := range ru.callers {
			if name != everyone && r.byName[name] == nil {
				r.byName[name] = grantsOf(list, name)
			}
		}
	}
	return r
}

func grantsOf(list []*rule, name string) *grants {
	g := &grants{}
	for _, ru := range list {
		if !slices.Contains(ru.callers, name) && (name == AnonymousName || !slices.Contains(ru.callers, everyone)) {
			continue
		}
		g.rules = append(g.rules, ru)
		whole := ru.covers(Everything)
		for a, may := range ru.actions {
			g.some[a] = g.some[a] || may
			g.whole[a] = g.whole[a] || may && whole
		}
	}
	return g
}

// covers tells whether all keys of s are those of the rule.
func (ru *rule) covers(s Scope) bool {
	return covered(ru.groups, s.Group) && covered(ru.topics, s.Topic) && covered(ru.brokers, s.Broker)
}

func covered(sets []Names, n Names) bool {
	for _, set := range sets {
		if set.covers(n) {
			return true
		}
	}
	return false
}

// of finds what a caller may do; nil: nothing.
func (r *Rules) of(name string) *grants {
	if g := r.byName[name]; g != nil {
		return g
	}
	if name == "" || name == AnonymousName {
		return nil
	}
	return r.known
}

// Allow permits what one rule permits: keys that only several rules together
// cover are to be asked for one by one.
func (r *Rules) Allow(p Principal, a Action, s Scope) error {
	g := r.of(p.Name)
	switch {
	case g == nil || int(a) >= len(g.some):
		return denied(p, a, s)
	case g.whole[a], a == Look && g.some[Read], a == Stage && g.some[Operate]:
		return nil
	case a >= Administer || !g.some[a]:
		return denied(p, a, s)
	}
	for _, ru := range g.rules {
		if ru.actions[a] && ru.covers(s) {
			return nil
		}
	}
	return denied(p, a, s)
}

var _ Policy = (*Rules)(nil)

// rights are the words of a policy file.
var rights = [...]string{Read: "read", Commit: "commit", Operate: "admin", Administer: "admin", Look: "read", Stage: "admin"}

// denied says what is missing, in the words of a policy file. Names are data
// from outside, so they are quoted.
func denied(p Principal, a Action, s Scope) error {
	who := fmt.Sprintf("%q", p.Name)
	if p.Name == AnonymousName || p.Name == "" {
		who = "callers without a token or certificate"
	}
	right := "a right that it does not know"
	if int(a) < len(rights) {
		right = "the right to " + rights[a]
	}
	return offset.Errorf(offset.ErrDenied, "the policy does not give %s %s%s", who, right, where(a, s))
}

// where says on which keys a right is missing.
func where(a Action, s Scope) string {
	switch {
	case a == Administer:
		return " without limits on groups, topics and brokers"
	case a > Administer:
		return " on anything"
	case s == Everything:
		return " on everything; name a group, a topic or a broker that it is given for"
	}
	out := " on"
	for _, part := range []struct {
		word  string
		names Names
	}{{"group", s.Group}, {"topic", s.Topic}, {"broker", s.Broker}} {
		if part.names != All {
			out += fmt.Sprintf(" %s %q", part.word, part.names)
		}
	}
	return out
}
