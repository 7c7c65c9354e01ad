package fsm

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// MarshalJSON gives the record as one object, a line of the audit log. Numbers
// of 64 bits are strings, since many readers of JSON round them. Names are
// escaped as JSON does, so that none can forge a line.
func (r Record) MarshalJSON() ([]byte, error) {
	line := recordLine{
		Index: decimal(r.Index), Time: time.UnixMilli(r.Time).UTC().Format(time.RFC3339Nano),
		Principal: r.Principal, From: r.From, What: r.What, Detail: r.Detail, Step: r.Step, Done: r.Done,
		Changed: r.Changed, Total: r.Total, Kept: r.Kept, Result: "ok",
	}
	if r.What == "gap" {
		line.Since = decimal(r.Since)
	}
	if !r.Act.IsZero() {
		line.Act = r.Act.String()
	}
	if err := r.Code.Err(); err != nil {
		line.Result = err.Error()
	}
	if r.Answered != 0 && r.Answered != r.Index {
		line.Answered = decimal(r.Answered)
	}
	for i := range r.Keys {
		c := &r.Keys[i]
		line.Keys = append(line.Keys, changeLine{
			c.Key.Group, c.Key.Topic, c.Key.Broker, c.Key.QueueID, positionOf(&c.Before), positionOf(&c.After),
		})
	}
	return json.Marshal(line)
}

type recordLine struct {
	Index     string       `json:"index"`
	Since     string       `json:"since,omitempty"`
	Time      string       `json:"time"`
	Principal string       `json:"principal,omitempty"`
	From      string       `json:"from,omitempty"`
	What      string       `json:"what"`
	Detail    string       `json:"detail,omitempty"`
	Act       string       `json:"act,omitempty"`
	Result    string       `json:"result"`
	Answered  string       `json:"first_answered_at,omitempty"`
	Step      uint32       `json:"step,omitempty"`
	Done      bool         `json:"done"`
	Changed   uint64       `json:"changed"`
	Total     uint64       `json:"total"`
	Kept      uint64       `json:"kept"`
	Keys      []changeLine `json:"keys,omitempty"`
}

type changeLine struct {
	Group  string        `json:"group"`
	Topic  string        `json:"topic"`
	Broker string        `json:"broker"`
	Queue  int32         `json:"queue"`
	Before *positionLine `json:"before"` // null: no offset
	After  *positionLine `json:"after"`
}

type positionLine struct {
	Offset  string `json:"offset"`
	Index   string `json:"index"`
	Epoch   string `json:"epoch"`
	Pending bool   `json:"pending,omitempty"`
}

func positionOf(s *offset.KeyState) *positionLine {
	if !s.Exists {
		return nil
	}
	p := &s.Position
	return &positionLine{strconv.FormatInt(p.Offset, 10), decimal(p.Index), decimal(p.Epoch), p.Pending}
}

func decimal(v uint64) string { return strconv.FormatUint(v, 10) }
