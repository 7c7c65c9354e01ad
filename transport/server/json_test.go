package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

const largest = "9223372036854775807"

func commitJSON(group, topic, offset string) string {
	names, _ := json.Marshal([]string{group, topic}) // strings marshal
	var n []json.RawMessage
	_ = json.Unmarshal(names, &n)
	return fmt.Sprintf(`{"cluster_id":%q,"commits":[{"group":%s,"topic":%s,"broker":"b1","queue_ids":[0],"offsets":[%s],"epochs":["1"]}]}`,
		fakeCluster, n[0], n[1], offset)
}

func TestLargestOffsetComesBackExact(t *testing.T) {
	w := start(t, Config{})
	for _, written := range []string{largest, `"` + largest + `"`} {
		status, answer := w.post(t, "OffsetService/Commit", commitJSON("g", "t", written))
		if status != http.StatusOK || answer["offsets"].([]any)[0] != largest {
			t.Fatalf("commit of %s: %d %v", written, status, answer)
		}
	}
	status, answer := w.post(t, "OffsetService/Fetch", `{"keys":[{"group":"g","topic":"t","broker":"b1","queue_id":0}]}`)
	state := answer["states"].([]any)[0].(map[string]any)
	if got := state["position"].(map[string]any)["offset"]; status != http.StatusOK || got != largest {
		t.Errorf("fetch: %d, offset %v (%T), want the string %s", status, got, got, largest)
	}
	if state["exists"] != true {
		t.Errorf("exists is %v", state["exists"])
	}
	if status, _ := w.post(t, "OffsetService/Commit", commitJSON("g", "t", "9223372036854775808")); status != http.StatusBadRequest {
		t.Errorf("2^63 was answered with %d", status)
	}
}

func TestNoOffsetIsSaid(t *testing.T) {
	w := start(t, Config{})
	_, answer := w.post(t, "OffsetService/Fetch", `{"keys":[{"group":"g","topic":"t","queue_id":3}]}`)
	state := answer["states"].([]any)[0].(map[string]any)
	if exists, there := state["exists"]; !there || exists != false {
		t.Errorf("exists is %v, written: %v; want false written out", exists, there)
	}
}

// Names are data, whatever they hold: each reaches its own record alone.
func TestNamesAreData(t *testing.T) {
	names := []string{"a/b/c", "%RETRY%billing", "%2Fx", "inst%DEgroup", "q?x=1#y", "sp ace", "..", "组一", "a+b", "/x", `"q"`, `{}`, "ns%g", "&<>"}
	w := start(t, Config{})
	for i, name := range names {
		if status, answer := w.post(t, "OffsetService/Commit", commitJSON(name, "t", fmt.Sprint(100+i))); status != http.StatusOK {
			t.Fatalf("commit for %q: %d %v", name, status, answer)
		}
	}
	_, answer := w.post(t, "GroupService/List", `{}`)
	var listed []string
	for _, n := range answer["names"].([]any) {
		listed = append(listed, n.(string))
	}
	want := slices.Sorted(slices.Values(names))
	if !slices.Equal(listed, want) {
		t.Errorf("listed %q, want %q", listed, want)
	}
	for i, name := range names {
		quoted, _ := json.Marshal(name)
		_, answer := w.post(t, "OffsetService/Fetch", fmt.Sprintf(`{"keys":[{"group":%s,"topic":"t","broker":"b1"}]}`, quoted))
		state := answer["states"].([]any)[0].(map[string]any)
		if got := state["position"].(map[string]any)["offset"]; got != fmt.Sprint(100+i) {
			t.Errorf("%q has offset %v, want %d", name, got, 100+i)
		}
		if got := state["key"].(map[string]any)["group"]; got != name {
			t.Errorf("%q came back as %q", name, got)
		}
	}
	quoted, _ := json.Marshal(names[2])
	body := fmt.Sprintf(`{"act":{"id":"000000000000000000000000000000aa","base":"1","cluster_id":%q},"scope":{"group":%s}}`, fakeCluster, quoted)
	if status, answer := w.post(t, "GroupService/Remove", body); status != http.StatusOK || answer["changed"] != "1" {
		t.Fatalf("remove: %d %v", status, answer)
	}
	if n := len(w.fake.keys); n != len(names)-1 {
		t.Errorf("%d groups are left of %d after the removal of one", n, len(names))
	}
}

func TestFaultyRequests(t *testing.T) {
	w := start(t, Config{})
	for _, c := range []struct {
		name, rpc, body string
		status          int
		code, text      string
	}{
		{"unknown field", "OffsetService/Fetch", `{"keyz":[]}`, 400, "invalid_argument", `unknown field "keyz"`},
		{"unknown field inside", "OffsetService/Fetch", `{"keys":[{"grp":"g"}]}`, 400, "invalid_argument", `unknown field "grp"`},
		{"empty body", "OffsetService/Fetch", ``, 400, "invalid_argument", "the body is empty"},
		{"no JSON", "OffsetService/Fetch", `{`, 400, "invalid_argument", "not the JSON of tidemark.v1.FetchRequest"},
		{"fraction", "OffsetService/Commit", commitJSON("g", "t", "1.5"), 400, "invalid_argument", "1.5"},
		{"field twice", "OffsetService/Fetch", `{"level":0,"level":1}`, 400, "invalid_argument", "duplicate"},
		{"bad UTF-8", "OffsetService/Fetch", "{\"keys\":[{\"group\":\"\xff\"}]}", 400, "invalid_argument", "UTF-8"},
		{"deep nesting", "OffsetService/Fetch", strings.Repeat(`{"keys":[`, 200), 400, "invalid_argument", "not the JSON"},
		{"no keys", "GroupService/Remove", `{}`, 400, "invalid_argument", ""},
		{"negative offset", "OffsetService/Commit", commitJSON("g", "t", "-1"), 400, "invalid_argument", "negative"},
		{"no call", "OffsetService/Comit", `{}`, 400, "invalid_argument", "there is no call"},
		{"no service", "OfsetService/Commit", `{}`, 400, "invalid_argument", "there is no call"},
		{"member without id", "ClusterService/AddMember", `{}`, 400, "invalid_argument", "id is empty"},
		{"level too large", "ClusterService/RaiseLevel", `{"level":300}`, 400, "invalid_argument", "300"},
	} {
		status, answer := w.post(t, c.rpc, c.body)
		text, _ := answer["message"].(string)
		if status != c.status || answer["code"] != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %v\nwant %d %s with %q", c.name, status, answer, c.status, c.code, c.text)
		}
	}
	if n := len(w.fake.keys); n != 0 {
		t.Errorf("%d keys were written by faulty requests", n)
	}
}

// An error's own code travels beside Connect's.
func TestErrorsCarryOurCode(t *testing.T) {
	w := start(t, Config{})
	status, answer := w.post(t, "OffsetService/Commit", `{"cluster_id":"zz","commits":[]}`)
	detail := answer["details"].([]any)[0].(map[string]any)
	debug := detail["debug"].(map[string]any)
	if status != 400 || detail["type"] != "tidemark.v1.Error" || debug["code"] != float64(offset.CodeInvalid) {
		t.Errorf("%d %v", status, answer)
	}
}

func TestWhatTheOutsideOfARequestMustBe(t *testing.T) {
	w := start(t, Config{})
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, `{}`)
	z.Close()
	for _, c := range []struct {
		name, kind string
		body       []byte
		header     http.Header
		text       string
	}{
		{"form", "application/x-www-form-urlencoded", []byte(`{}`), nil, "Content-Type: application/json"},
		{"none", "", []byte(`{}`), nil, "Content-Type: application/json"},
		{"compressed", "application/json", zipped.Bytes(), http.Header{"Content-Encoding": {"gzip"}}, "gzip"},
		{"too large", "application/json", bytes.Repeat([]byte(" "), offset.MaxMessage+6), nil, "split it"},
	} {
		status, answer := w.postAs(t, "ClusterService/Status", c.kind, c.body, c.header)
		text, _ := answer["message"].(string)
		if status < 400 || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %v; want an error with %q", c.name, status, answer, c.text)
		}
	}
	res, err := w.json.Get(w.url + "/tidemark.v1.ClusterService/Status")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("GET was answered with %d", res.StatusCode)
	}
	if status, answer := w.postAs(t, "ClusterService/Status", "application/json; charset=utf-8", []byte(`{}`), nil); status != 200 {
		t.Errorf("with a charset: %d %v", status, answer)
	}
}

// A body of unknown length is bounded while it is read.
func TestChunkedBodyIsBounded(t *testing.T) {
	w := start(t, Config{})
	req, _ := http.NewRequest(http.MethodPost, w.url+"/tidemark.v1.ClusterService/Status", struct{ *bytes.Reader }{bytes.NewReader(bytes.Repeat([]byte(" "), offset.MaxMessage+1))})
	req.ContentLength = -1
	req.Header.Set("Content-Type", "application/json")
	res, err := w.json.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("%d bytes without a length were answered with %s", offset.MaxMessage+1, res.Status)
	}
}
