package node

import (
	"fmt"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/offset"
)

// allow asks the policy, as nothing else does but shown. what names the request for the
// audit log, where every denial is noted.
func (n *Node) allow(p auth.Principal, a auth.Action, s auth.Scope, what string) error {
	err := n.config.Policy.Allow(p, a, s)
	if err != nil {
		n.denied(p, what, err)
	}
	return err
}

// shown is a status as p may see it. Whoever has an import's id can send its steps,
// and a merge has no scope that would keep others out: the id is shown only to
// callers that may operate on all that the import may touch.
func (n *Node) shown(p auth.Principal, s offset.Status) offset.Status {
	i := s.Import
	if i == nil || n.config.Policy.Allow(p, auth.Operate, groupScope(i.Group)) == nil {
		return s
	}
	s.Import = &offset.ImportStatus{Mode: i.Mode, Chunks: i.Chunks, Offsets: i.Offsets, Next: i.Next}
	return s
}

// reasonBytes is how much of a reason the audit log has. It may repeat what a
// stranger shows, whose lines must not push others out.
const reasonBytes = 2048

// denied notes a refusal for want of a right.
func (n *Node) denied(p auth.Principal, what string, err error) {
	n.counts.denied.Add(1)
	n.denials.note(p, fsm.Record{
		Index: n.meta().Index, Time: n.config.Clock().UnixMilli(), Principal: p.Name, From: p.From,
		What: "denied", Detail: fmt.Sprintf("request=%q reason=%.*q", what, reasonBytes, err.Error()), Code: offset.CodeDenied,
	})
}

// Refused notes in the audit log that a request was refused before it came
// here, since what it showed of its caller is not known. It does not wait.
func (n *Node) Refused(from, what string, err error) { n.denied(auth.Principal{From: from}, what, err) }

// administered notes an act on the members, or on this one, that no entry of the
// log records. What was not done, and can be sent again, is not noted.
func (n *Node) administered(p auth.Principal, what, detail string, err error) {
	if err != nil && offset.Retriable(err) && offset.OutcomeOf(err) == offset.NotDone {
		return
	}
	index := n.meta().Index
	n.auditing.Offer(fsm.Record{
		Index: index, Answered: index, Time: n.config.Clock().UnixMilli(), Principal: p.Name, From: p.From,
		What: what, Detail: detail, Code: offset.CodeOf(err), Done: true,
	})
}

// scopeOfList is what a listing shows of.
func scopeOfList(l *offset.List) auth.Scope {
	s := auth.Scope{Group: auth.OnlyOrAll(l.Group), Topic: auth.OnlyOrAll(l.Topic), Broker: brokers(l.HasBroker, l.Broker)}
	switch {
	case l.What == offset.ListGroups && l.Group == "":
		s.Group = auth.Beginning(l.Prefix)
	case l.What == offset.ListTopics && l.Topic == "":
		s.Topic = auth.Beginning(l.Prefix)
	}
	return s
}

func brokers(one bool, name string) auth.Names {
	if one {
		return auth.Only(name)
	}
	return auth.All
}

func scopeOfKey(k offset.Key) auth.Scope { return auth.Key(k.Group, k.Topic, k.Broker) }

// scopesOf gives what an act is about. Of a step of an import it is what the
// step itself brings; admitStep looks at the rest.
func scopesOf(a *offset.Act) (action auth.Action, scopes []auth.Scope) {
	switch {
	case a.Remove != nil:
		s := &a.Remove.Scope
		scopes = []auth.Scope{{Group: auth.OnlyOrAll(s.Group), Topic: auth.OnlyOrAll(s.Topic), Broker: brokers(s.HasBroker, s.Broker)}}
	case a.Clone != nil:
		for _, group := range []string{a.Clone.From, a.Clone.To} {
			scopes = append(scopes, auth.Scope{Group: auth.Only(group), Topic: auth.OnlyOrAll(a.Clone.Topic), Broker: brokers(a.Clone.HasBroker, a.Clone.Broker)})
		}
	case a.Take != nil && a.Take.ByBroker:
		scopes = []auth.Scope{{Group: auth.All, Topic: auth.All, Broker: auth.Only(a.Take.Name)}}
	case a.Take != nil:
		scopes = []auth.Scope{groupScope(a.Take.Name)}
	case a.Reset != nil:
		scopes = targetScopes(a.Reset.Targets)
	case a.Expire != nil:
		for _, idle := range a.Expire.Groups {
			scopes = append(scopes, auth.Scope{Group: auth.Only(idle.Group), Topic: auth.All, Broker: auth.All})
		}
	case a.Import != nil && a.Import.Step == offset.ImportChunk:
		scopes = targetScopes(a.Import.Targets)
	case a.Import != nil && (a.Import.Step != offset.ImportBegin || a.Import.Mode == offset.ImportMerge):
		return auth.Stage, []auth.Scope{auth.Everything}
	case a.Import != nil:
		scopes = []auth.Scope{groupScope(a.Import.Group)}
	default:
		scopes = []auth.Scope{auth.Everything}
	}
	return auth.Operate, scopes
}

// groupScope is a whole group, or everything.
func groupScope(group string) auth.Scope {
	return auth.Scope{Group: auth.OnlyOrAll(group), Topic: auth.All, Broker: auth.All}
}

// targetScopes are those of the keys, each once where they are in order.
func targetScopes(list []offset.Target) (scopes []auth.Scope) {
	for i := range list {
		if s := scopeOfKey(list[i].Key); i == 0 || s != scopes[len(scopes)-1] {
			scopes = append(scopes, s)
		}
	}
	return scopes
}
