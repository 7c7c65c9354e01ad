package verify

import (
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// text is a state in a few words.
func text(s offset.KeyState) string {
	own := fmt.Sprintf("epoch %d", s.Position.Epoch)
	if s.Claim > 0 {
		own += fmt.Sprintf(" claim %d", s.Claim)
	}
	if !s.Exists {
		return "none " + own
	}
	if s.Position.Pending {
		own += " pending"
	}
	return fmt.Sprintf("%d (index %d %s)", s.Position.Offset, s.Position.Index, own)
}

func verdicts(list []offset.Verdict) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%v %s", v.Code, text(v.State)))
	}
	return strings.Join(out, ", ")
}

// describe says what was asked and answered.
func describe(o *record.Op) string {
	asked := ""
	switch {
	case o.Commits != nil:
		asked = "commit"
		if o.Commits.Atomic {
			asked = "atomic commit"
		}
		record.Each(o.Commits, func(_ int, x offset.Commit) { asked += fmt.Sprintf(" %s=%d@%d", x.Key, x.Offset, x.Epoch) })
	case o.Set != nil:
		asked = fmt.Sprintf("set %s %+v", o.Set.Key, *o.Set)
	case o.Act != nil:
		asked = describeAct(o.Act)
	case o.Fetch != nil:
		asked = fmt.Sprintf("fetch %v %v", o.Fetch.At.Level, o.Fetch.Keys)
	case o.List != nil:
		asked = fmt.Sprintf("list %v %q", o.List.At.Level, o.List.Group)
	}
	switch {
	case !o.Answered():
		return asked + " -> " + o.Code.String()
	case o.Result != nil:
		return fmt.Sprintf("%s -> %+v", asked, *o.Result)
	case o.Verdicts != nil:
		return asked + " -> " + verdicts(o.Verdicts)
	}
	var states []string
	for _, s := range o.States {
		states = append(states, text(s))
	}
	return asked + " -> " + strings.Join(states, ", ")
}

func describeAct(a *offset.Act) string {
	what := fmt.Sprintf("base %d", a.Base)
	if a.Claim > 0 {
		what += fmt.Sprintf(" claim %d", a.Claim)
	}
	switch {
	case a.Reset != nil:
		return fmt.Sprintf("reset %s %v", what, a.Reset.Targets)
	case a.Remove != nil:
		return fmt.Sprintf("remove %s %+v", what, a.Remove.Scope)
	case a.Clone != nil:
		return fmt.Sprintf("clone %s %+v", what, *a.Clone)
	case a.Expire != nil:
		return fmt.Sprintf("expire %s %+v", what, a.Expire.Groups)
	case a.Take != nil:
		return fmt.Sprintf("claim %s %+v", what, *a.Take)
	}
	return fmt.Sprintf("import %s step %d chunk %d mode %d group %q %v", what, a.Import.Step, a.Import.Chunk, a.Import.Mode, a.Import.Group, a.Import.Targets)
}
