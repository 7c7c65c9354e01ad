package node

import (
	"encoding/json"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestAuditLine: a line says all that its record does: what an act did here, and
// in all, and whether it is only the answer to a resend.
func TestAuditLine(t *testing.T) {
	key := offset.Key{Group: "g\n", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: 3}}
	before := offset.KeyState{Exists: true, Position: offset.Position{Offset: 9}}
	for want, r := range map[string]fsm.Record{
		`{"index":7,"time":"1970-01-01T00:00:01.5Z","principal":"p","from":"h:1","what":"remove","act":"01000000000000000000000000000000",` +
			`"detail":"d","result":"ok","step":2,"changed":1,"total":5,"kept":4,"keys":[{"group":"g\n","topic":"t","queue":3,"before":9}]}`: {
			Index: 7, Time: 1500, Principal: "p", From: "h:1", What: "remove", Act: offset.ActID{1}, Detail: "d",
			Answered: 7, Step: 2, Changed: 1, Total: 5, Kept: 4, Keys: []table.Change{{Key: key, Before: before}},
		},
		`{"index":8,"time":"1970-01-01T00:00:01.5Z","what":"reset","act":"02000000000000000000000000000000",` +
			`"result":"superseded by a newer act","answered":7}`: {
			Index: 8, Time: 1500, What: "reset", Act: offset.ActID{2}, Code: offset.CodeSuperseded, Answered: 7,
		},
		`{"index":9,"time":"1970-01-01T00:00:01.5Z","what":"gap","since":3,"result":"ok"}`: {
			Index: 9, Time: 1500, What: "gap", Since: 3,
		},
	} {
		got, err := json.Marshal(lineOf(r))
		if err != nil || string(got) != want {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
	}
}
