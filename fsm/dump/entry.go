package dump

import (
	"encoding/hex"
	"io"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// Frame is an entry of the raft log as its store keeps it.
type Frame struct {
	Index, Term uint64
	// Type is raft's word for it: "LogCommand", "LogNoop" and so on. Command
	// says that Data is an entry of ours.
	Type    string
	Command bool
	Data    []byte
}

// Log prints one entry of a raft log: its frame, and what is in it if it is a
// command. The error is that of w, or of the entry: see Entry.
func Log(w io.Writer, f *Frame) error {
	l := newLines(w)
	l.put(struct {
		Log frameLine `json:"log"`
	}{frameLine{number(f.Index), number(f.Term), f.Type, len(f.Data)}})
	var err error
	if f.Command {
		err = l.entry(f.Data)
	}
	return l.close(err)
}

type frameLine struct {
	Index number `json:"index"`
	Term  number `json:"term"`
	Type  string `json:"type"`
	Bytes int    `json:"bytes"`
}

// Entry prints one entry. The error is that of w, or wraps offset.ErrDamaged
// or offset.ErrLevel: then nothing of the entry is printed, for its parts
// depend on one another.
func Entry(w io.Writer, data []byte) error {
	l := newLines(w)
	return l.close(l.entry(data))
}

func (l *lines) entry(data []byte) error {
	e, err := new(entry.Decoder).Decode(data)
	if err != nil {
		return err
	}
	l.put(struct {
		Entry entryLine `json:"entry"`
	}{entryLine{e.Level, e.Cluster.String(), clock(e.Time), len(e.Requests), len(data)}})
	for i := range e.Requests {
		l.request(i, &e.Requests[i])
	}
	return nil
}

type entryLine struct {
	Level    uint8  `json:"level"`
	Cluster  string `json:"cluster"`
	Time     string `json:"time"`
	Requests int    `json:"requests"`
	Bytes    int    `json:"bytes"`
}

// requestLine is a request; what depends on its kind is in What.
type requestLine struct {
	Request   int    `json:"request"`
	Kind      string `json:"kind"`
	Principal string `json:"principal,omitempty"`
	From      string `json:"from,omitempty"`
	What      any    `json:"what,omitempty"`
}

// keyLine is a key of a request, with the offset that it is to have.
type keyLine struct {
	Request int `json:"request"`
	keyName
	Offset number  `json:"offset"`
	Epoch  *number `json:"epoch,omitempty"`
}

func (l *lines) request(i int, r *entry.Request) {
	kind, what := described(r)
	l.put(requestLine{i, kind, r.Principal, r.From, what})
	switch {
	case r.Commits != nil:
		l.commits(i, r.Commits)
	case r.Act != nil && r.Act.Reset != nil:
		l.targets(i, r.Act.Reset.Targets)
	case r.Act != nil && r.Act.Import != nil:
		l.targets(i, r.Act.Import.Targets)
	}
}

func (l *lines) commits(i int, c *offset.Commits) {
	for t := range c.Topics {
		topic := &c.Topics[t]
		for _, q := range topic.Queues {
			epoch := number(q.Epoch)
			l.put(keyLine{i, keyName{topic.Group, topic.Topic, topic.Broker, q.QueueID}, number(q.Offset), &epoch})
		}
	}
}

func (l *lines) targets(i int, list []offset.Target) {
	for t := range list {
		l.put(keyLine{Request: i, keyName: nameOf(&list[t].Key), Offset: number(list[t].Offset)})
	}
}

type commitsLine struct {
	Cluster string `json:"cluster"`
	Atomic  bool   `json:"atomic,omitempty"`
	Commits int    `json:"commits"`
}

type setLine struct {
	keyName
	Offset   number  `json:"offset"`
	Cluster  string  `json:"cluster"`
	Epoch    number  `json:"epoch"`
	Replaces *number `json:"replaces"` // null: there was no offset
	Operator bool    `json:"operator,omitempty"`
	Claim    number  `json:"claim"`
}

type memberLine struct {
	ID       string `json:"id"`
	API      string `json:"api,omitempty"`
	MaxLevel uint8  `json:"max_level,omitempty"`
}

// described names the kind of a request and gives what is asked, without keys.
func described(r *entry.Request) (kind string, what any) {
	switch {
	case r.Commits != nil:
		return "commits", commitsLine{r.Commits.Cluster.String(), r.Commits.Atomic, r.Commits.Count()}
	case r.Set != nil:
		return "set", setOf(r.Set)
	case r.Act != nil:
		return actOf(r)
	case r.Member != nil:
		return "announce", memberLine{r.Member.ID, r.Member.API, r.Member.MaxLevel}
	case r.Forget != "":
		return "forget", memberLine{ID: r.Forget}
	case r.Level != 0:
		return "level", struct {
			Level uint8 `json:"level"`
		}{r.Level}
	}
	return "checkpoint", nil
}

func setOf(s *offset.Set) setLine {
	line := setLine{nameOf(&s.Key), number(s.Offset), s.Cluster.String(), number(s.Epoch), nil, s.Operator, number(s.Claim)}
	if s.Exists {
		n := number(s.Replaces)
		line.Replaces = &n
	}
	return line
}

// hash prints a SHA-256, nothing if there is none.
func hash(h [32]byte) string {
	if h == [32]byte{} {
		return ""
	}
	return hex.EncodeToString(h[:])
}
