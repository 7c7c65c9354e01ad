package cases

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// shapes are names that routes, escapes, shells and logs are prone to mistake,
// some for each other.
var shapes = []string{"a/b/c", "%RETRY%billing", "%2Fx", "/x", "%252Fx", "inst%DEgroup", "q?x=1#y", "sp ace", "sp+ace", "sp%20ace", "..", "组一", "a+b", `quo"te`, `back\slash`, "<b>&amp;", "{{.}}", "%s%d", "-o", "--execute", "a\u00a0b"}

// face is one way to reach the cluster.
type face interface {
	commit(t *testing.T, k offset.Key, n int64)
	query(t *testing.T, k offset.Key) int64 // -1: none
	groups(t *testing.T) []string
	remove(t *testing.T, group string)
}

// TestC54 (smartloli/EFAK#310): each name reaches exactly its own record, through
// JSON over HTTP, the command line and the Go client, whoever wrote it.
func TestC54(t *testing.T) {
	c := local.Start(t, 3)
	faces := map[string]face{"HTTP": &byHTTP{c.Nodes("n2")[0]}, "tidemark": &byTool{c}, "client": &byClient{c.Client()}}
	for writes, by := range faces {
		t.Run(writes, func(t *testing.T) {
			for i, name := range shapes {
				by.commit(t, key(name, name, name, 0), int64(i+1))
			}
			want := slices.Sorted(slices.Values(shapes))
			for reads, f := range faces {
				if got := f.groups(t); !slices.Equal(got, want) {
					t.Errorf("%s lists %q, want %q", reads, got, want)
				}
				for i, name := range shapes {
					if got := f.query(t, key(name, name, name, 0)); got != int64(i+1) {
						t.Errorf("%s has %q at %d, want %d", reads, name, got, i+1)
					}
				}
			}
			for i, name := range shapes {
				by.remove(t, name)
				if got := by.groups(t); len(got) != len(shapes)-i-1 || slices.Contains(got, name) {
					t.Fatalf("after the removal of %q there are %q", name, got)
				}
			}
		})
	}
	wellFormed(t, c)
}

// wellFormed looks at what the nodes said of these names: metrics, audit and log.
func wellFormed(t *testing.T, c *local.Cluster) {
	t.Helper()
	sample := regexp.MustCompile(`^(#.*|[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]+="[^"\\]*",?)*\})? [-+0-9.eENaInf]+)?$`)
	for _, n := range c.Nodes() {
		_, text, err := n.Page(t.Context(), "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(text, "\n") {
			if !sample.MatchString(line) || strings.Contains(line, "组一") || strings.Contains(line, "RETRY") {
				t.Errorf("%s serves the metric %q", n.Name, line)
			}
		}
	}
	for _, n := range c.Names() {
		forged(t, c.Log(n))
		f, err := os.Open(filepath.Join(c.Run, n, "data", "audit.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		removed := map[string]bool{}
		for s := bufio.NewScanner(f); s.Scan(); {
			var line struct{ What, Detail string }
			if err := json.Unmarshal(s.Bytes(), &line); err != nil || line.What == "" {
				t.Errorf("the audit log of %s has the line %q: %v", n, s.Text(), err)
			}
			removed[line.What] = true
			forged(t, line.What)
		}
		if !removed["remove"] {
			t.Errorf("the audit log of %s tells of %v, and not of the removals", n, removed)
		}
	}
}

// TestC54NamesCannotForgeLines: a name with the end of a line in it is refused
// by each face with a reason, and by none is it written as it is.
func TestC54NamesCannotForgeLines(t *testing.T) {
	c := local.Start(t, 1)
	for _, name := range []string{"g\n" + forgery, "g\r" + forgery, "g\u0085" + forgery, "g\x1b[2K" + forgery} {
		body := map[string]any{"keys": []any{map[string]any{"group": name, "topic": "t", "queueId": 0}}}
		status, answer, err := c.Nodes()[0].Post(t.Context(), "OffsetService/Fetch", asJSON(t, body))
		if err != nil || status != 400 || !strings.Contains(fmt.Sprint(answer), "control character") {
			t.Errorf("over HTTP %q gives %d, %v, %v", name, status, answer, err)
		}
		for _, args := range [][]string{{"get", name}, {"group", "remove", name, "--execute"}, {"group", "reset", name, "--to-offset", "0"}, {"group", "clone", "g", name}, {"topic", "describe", name}, {"commit", name, "t", "0", "1"}} {
			r := c.Tidemark(args...).Want(t, badInput, "", "control character")
			if r.Out != "" || strings.Count(r.Err, "\n") != 1 {
				t.Errorf("tidemark %q prints %q, %q", args, r.Out, r.Err)
			}
		}
	}
	// Bytes that are no text come to no record.
	c.Tidemark("get", "g\xff").Want(t, badInput, "", "UTF-8")
	forged(t, c.Log("n1"))
}

// forgery is what a forged line would begin with.
const forgery = "time=2026-11-29T00:00:00Z level=INFO msg=forged"

func forged(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u0085' }) {
		if strings.HasPrefix(line, forgery) {
			t.Errorf("a name forged the line %q", line)
		}
	}
}

// byHTTP speaks JSON, as curl does.
type byHTTP struct{ *ask.Node }

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (h *byHTTP) post(t *testing.T, method string, body map[string]any) map[string]any {
	t.Helper()
	status, answer, err := h.Post(t.Context(), method, asJSON(t, body))
	if err != nil || status != 200 {
		t.Fatalf("%s %v gives %d, %v, %v", method, body, status, answer, err)
	}
	return answer
}

func jsonKey(k offset.Key) map[string]any {
	return map[string]any{"group": k.Group, "topic": k.Topic, "broker": k.Broker, "queueId": k.QueueID}
}

func (h *byHTTP) state(t *testing.T, k offset.Key) (state map[string]any, cluster string) {
	t.Helper()
	a := h.post(t, "OffsetService/Fetch", map[string]any{"keys": []any{jsonKey(k)}})
	return a["states"].([]any)[0].(map[string]any), a["meta"].(map[string]any)["clusterId"].(string)
}

func (h *byHTTP) commit(t *testing.T, k offset.Key, n int64) {
	t.Helper()
	st, cluster := h.state(t, k)
	h.post(t, "OffsetService/Commit", map[string]any{"clusterId": cluster, "commits": []any{map[string]any{
		"group": k.Group, "topic": k.Topic, "broker": k.Broker, "queueIds": []any{k.QueueID}, "offsets": []any{fmt.Sprint(n)}, "epochs": []any{st["epoch"]},
	}}})
}

func (h *byHTTP) query(t *testing.T, k offset.Key) int64 {
	t.Helper()
	st, _ := h.state(t, k)
	if st["exists"] != true {
		return -1
	}
	var n int64
	if _, err := fmt.Sscan(st["position"].(map[string]any)["offset"].(string), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (h *byHTTP) groups(t *testing.T) (list []string) {
	t.Helper()
	for _, n := range h.post(t, "GroupService/List", map[string]any{})["names"].([]any) {
		list = append(list, n.(string))
	}
	return list
}

func (h *byHTTP) remove(t *testing.T, group string) {
	t.Helper()
	meta := h.post(t, "GroupService/List", map[string]any{"limit": 1})["meta"].(map[string]any)
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	h.post(t, "GroupService/Remove", map[string]any{"act": map[string]any{"id": hex.EncodeToString(id), "base": meta["index"], "clusterId": meta["clusterId"]}, "scope": map[string]any{"group": group}})
}

// byTool runs the command line.
type byTool struct{ *local.Cluster }

func (b *byTool) commit(t *testing.T, k offset.Key, n int64) {
	t.Helper()
	b.Tidemark("commit", "--execute", "--broker="+k.Broker, "--", k.Group, k.Topic, fmt.Sprint(k.QueueID), fmt.Sprint(n)).Want(t, 0, fmt.Sprint(n), "")
}

func (b *byTool) query(t *testing.T, k offset.Key) int64 {
	t.Helper()
	r := b.Tidemark("get", "-o", "json", "--broker="+k.Broker, "--", k.Group, k.Topic, fmt.Sprint(k.QueueID))
	if r.Code == notFound {
		return -1
	}
	var got struct {
		Keys []struct {
			Offset int64 `json:",string"`
		}
	}
	if err := json.Unmarshal([]byte(r.Out), &got); err != nil || len(got.Keys) != 1 {
		t.Fatalf("get gives %+v: %v", r, err)
	}
	return got.Keys[0].Offset
}

func (b *byTool) groups(t *testing.T) []string {
	t.Helper()
	var got struct{ Groups []string }
	if r := b.Tidemark("group", "list", "-o", "json"); json.Unmarshal([]byte(r.Out), &got) != nil {
		t.Fatalf("group list gives %+v", r)
	}
	return got.Groups
}

func (b *byTool) remove(t *testing.T, group string) {
	t.Helper()
	b.Tidemark("group", "remove", "--execute", "--", group).Want(t, 0, "removed 1 offset", "")
}

// byClient uses the Go client.
type byClient struct{ *client.Client }

func (c *byClient) state(t *testing.T, k offset.Key) (offset.KeyState, offset.Meta) {
	t.Helper()
	list, m, err := c.Fetch(t.Context(), offset.ReadAt{}, k)
	if err != nil {
		t.Fatal(err)
	}
	return list[0], m
}

func (c *byClient) commit(t *testing.T, k offset.Key, n int64) {
	t.Helper()
	st, m := c.state(t, k)
	if _, _, err := c.Commit(t.Context(), m.Cluster, []offset.Commit{{Key: k, Offset: n, Epoch: st.Epoch}}); err != nil {
		t.Fatal(err)
	}
}

func (c *byClient) query(t *testing.T, k offset.Key) int64 {
	t.Helper()
	st, _ := c.state(t, k)
	return ask.Value(st)
}

func (c *byClient) groups(t *testing.T) []string {
	t.Helper()
	p, err := c.List(t.Context(), offset.List{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Names
}

func (c *byClient) remove(t *testing.T, group string) {
	t.Helper()
	p, err := c.List(t.Context(), offset.List{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := offset.Act{Base: p.Meta.Index, Cluster: p.Meta.Cluster, Remove: &offset.Remove{Scope: offset.Scope{Group: group}}}
	_, _ = rand.Read(a.ID[:])
	if _, _, err := c.Act(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}
