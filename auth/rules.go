package auth

import (
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// Rules is a Policy by rules, as a policy file has them. What no rule permits nobody
// may do. It does not change.
type Rules struct {
	// byName holds what the rules that spell a name out give it, known what those
	// for everyone give to each caller that has a name.
	byName map[string]*grants
	known  grants
}

// rule permits some actions on keys to some callers.
type rule struct {
	callers                 []string
	actions                 [Stage + 1]bool
	groups, topics, brokers []Names
}

// grants are what some rules permit; nil permits nothing.
type grants struct {
	// whole: the action is permitted on everything; some: on something.
	whole, some [Stage + 1]bool
	rules       []*rule
}

// everyone in a rule is each caller that has shown credentials.
const everyone = "*"

func newRules(list []*rule) *Rules {
	r := &Rules{byName: map[string]*grants{}}
	for _, ru := range list {
		for _, name := range ru.callers {
			switch {
			case name == everyone:
				r.known.add(ru)
				continue
			case r.byName[name] == nil:
				r.byName[name] = &grants{}
			}
			r.byName[name].add(ru)
		}
	}
	return r
}

func (g *grants) add(ru *rule) {
	g.rules = append(g.rules, ru)
	whole := ru.covers(Everything)
	for a, may := range ru.actions {
		g.some[a] = g.some[a] || may
		g.whole[a] = g.whole[a] || may && whole
	}
}

// permit reports whether one of the rules permits it.
func (g *grants) permit(a Action, s Scope) bool {
	switch {
	case g == nil || int(a) >= len(g.some):
		return false
	case g.whole[a], a == Look && g.some[Read], a == Stage && g.some[Operate]:
		return true
	case a >= Administer || !g.some[a]:
		return false
	}
	return slices.ContainsFunc(g.rules, func(ru *rule) bool { return ru.actions[a] && ru.covers(s) })
}

// covers reports whether all keys of s are among those of the rule.
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

// Allow permits what one rule permits: keys that only several rules together
// cover are to be asked for one by one.
func (r *Rules) Allow(p Principal, a Action, s Scope) error {
	named := p.Name != "" && p.Name != AnonymousName
	if r.byName[p.Name].permit(a, s) || named && r.known.permit(a, s) {
		return nil
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
