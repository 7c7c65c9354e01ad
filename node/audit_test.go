package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func TestAuditLines(t *testing.T) {
	dir := t.TempDir()
	lost := 0
	a, err := openAudit(dir, hclog.NewNullLogger(), func() { lost++ })
	if err != nil {
		t.Fatal(err)
	}
	forged := "x\n{\"index\":1}\xff"
	a.write(fsm.Record{Index: 7, Time: 1000, Principal: forged, What: "remove", Detail: "group \"g\"", Code: offset.CodeSuperseded, Kept: 3})
	a.write(fsm.Record{Index: 9, What: "set", Keys: []table.Change{{
		Key:   offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}},
		After: offset.KeyState{Exists: true, Position: offset.Position{Offset: 4}},
	}}})
	a.close()
	got := lines(t, filepath.Join(dir, auditFile))
	if len(got) != 2 || lost != 0 {
		t.Fatalf("%d lines and %d lost, want 2 and none: a name must not forge a line", len(got), lost)
	}
	var first auditLine
	if err := json.Unmarshal([]byte(got[0]), &first); err != nil {
		t.Fatal(err)
	}
	if first.Index != 7 || first.Principal != "x\n{\"index\":1}\uFFFD" || first.Result != offset.ErrSuperseded.Error() || first.Time != "1970-01-01T00:00:01Z" || first.Kept != 3 {
		t.Errorf("the first line: %+v", first)
	}
	if !strings.Contains(got[1], `"keys":[{"group":"g","topic":"t","queue":0,"after":4}]`) || !strings.Contains(got[1], `"result":"ok"`) {
		t.Errorf("the second line: %s", got[1])
	}
}

// TestDroppedAuditLinesAreCounted: those that could not be written, and those that found
// the queue full.
func TestDroppedAuditLinesAreCounted(t *testing.T) {
	n, err := New(good())
	if err != nil {
		t.Fatal(err)
	}
	n.counts.auditDropped.Add(2)
	for i := range uint64(auditQueue + 3) {
		n.auditing.Offer(fsm.Record{Index: i + 1})
	}
	for _, m := range n.Metrics() {
		if m.Name == "audit_dropped_total" && (m.Value != 5 || !m.Counter) {
			t.Errorf("%v lines are said to be dropped, want 5", m.Value)
		}
	}
}

func TestATornAuditLineIsEnded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, auditFile)
	if err := os.WriteFile(path, []byte("{\"index\":1}\n{\"ind"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := openAudit(dir, hclog.NewNullLogger(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	a.write(fsm.Record{Index: 2, What: "level"})
	a.close()
	got := lines(t, path)
	if len(got) != 3 || got[1] != `{"ind` || !strings.HasPrefix(got[2], `{"index":2,`) {
		t.Errorf("lines: %q", got)
	}
}

func TestTheAuditLogIsMovedOn(t *testing.T) {
	dir := t.TempDir()
	a, err := openAudit(dir, hclog.NewNullLogger(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for i := range auditKept + 3 {
		a.size = auditBytes // as if so much had been written
		a.write(fsm.Record{Index: uint64(i + 1), What: "level"})
	}
	names, err := filepath.Glob(filepath.Join(dir, auditFile+"*"))
	if err != nil || len(names) != auditKept+1 {
		t.Fatalf("%d files, %v; want %d", len(names), err, auditKept+1)
	}
	if got := lines(t, filepath.Join(dir, auditFile)); len(got) != 1 || !strings.HasPrefix(got[0], `{"index":11,`) {
		t.Errorf("the newest file: %q", got)
	}
	if got := lines(t, filepath.Join(dir, auditFile+".8")); len(got) != 1 || !strings.HasPrefix(got[0], `{"index":3,`) {
		t.Errorf("the oldest file: %q", got)
	}
}
