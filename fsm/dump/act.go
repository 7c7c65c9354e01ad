package dump

import (
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// actLine is what all acts have; what depends on the kind is in Asks.
type actLine struct {
	ID      string `json:"id"`
	Base    number `json:"base"`
	Cluster string `json:"cluster"`
	Claim   number `json:"claim"`
	Step    uint32 `json:"step"`
	Asks    any    `json:"asks"`
}

type resetLine struct {
	Keys int `json:"keys"`
}

type scopeLine struct {
	Group  string  `json:"group,omitempty"`
	Topic  string  `json:"topic,omitempty"`
	Broker *string `json:"broker,omitempty"` // absent: all brokers
	Queue  *int32  `json:"queue,omitempty"`  // absent: all queues
}

type cloneLine struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Topic  string  `json:"topic,omitempty"`
	Broker *string `json:"broker,omitempty"`
}

type idleLine struct {
	Group string `json:"group"`
	Seen  number `json:"seen"`
}

type claimAsk struct {
	Group  *string `json:"group,omitempty"`
	Broker *string `json:"broker,omitempty"`
	Holder string  `json:"holder"`
}

type importAsk struct {
	Step    string `json:"step"`
	Mode    string `json:"mode,omitempty"`
	Group   string `json:"group,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Chunks  uint32 `json:"chunks,omitempty"`
	Offsets number `json:"offsets"`
	Chunk   uint32 `json:"chunk"`
	Keys    int    `json:"keys"`
}

func actOf(r *entry.Request) (kind string, line actLine) {
	a := r.Act
	return a.Kind(), actLine{a.ID.String(), number(a.Base), a.Cluster.String(), number(a.Claim), r.Step, asksOf(a)}
}

func asksOf(a *offset.Act) any {
	switch {
	case a.Reset != nil:
		return resetLine{len(a.Reset.Targets)}
	case a.Remove != nil:
		return scopeOf(&a.Remove.Scope)
	case a.Clone != nil:
		return cloneLine{a.Clone.From, a.Clone.To, a.Clone.Topic, given(a.Clone.HasBroker, a.Clone.Broker)}
	case a.Expire != nil:
		list := make([]idleLine, len(a.Expire.Groups))
		for i, g := range a.Expire.Groups {
			list[i] = idleLine{g.Group, number(g.Seen)}
		}
		return list
	case a.Take != nil:
		t := a.Take
		return claimAsk{given(!t.ByBroker, t.Name), given(t.ByBroker, t.Name), t.Holder}
	}
	return importOf(a.Import)
}

func scopeOf(s *offset.Scope) scopeLine {
	return scopeLine{s.Group, s.Topic, given(s.HasBroker, s.Broker), given(s.HasQueue, s.QueueID)}
}

// given is nil unless the value counts.
func given[T any](has bool, v T) *T {
	if !has {
		return nil
	}
	return &v
}

func importOf(i *offset.Import) importAsk {
	line := importAsk{Step: stepName(i.Step), Group: i.Group, Hash: hash(i.Hash), Chunks: i.Chunks, Offsets: number(i.Offsets), Chunk: i.Chunk, Keys: len(i.Targets)}
	if i.Step == offset.ImportBegin {
		line.Mode = modeName(i.Mode)
	}
	return line
}

func stepName(s offset.ImportStep) string {
	return [...]string{offset.ImportBegin: "begin", offset.ImportChunk: "chunk", offset.ImportSwap: "swap", offset.ImportAbort: "abort"}[s&3]
}

func modeName(m offset.ImportMode) string {
	return [...]string{offset.ImportMerge: "merge", offset.ImportReplace: "replace"}[m&1]
}
