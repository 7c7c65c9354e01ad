package offsetfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func target(group, topic, broker string, queue int32, n int64) offset.Target {
	return offset.Target{Key: offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker, QueueID: queue}}, Offset: n}
}

// decodeStandard reads b with a JSON parser that takes no liberties.
func decodeStandard(t *testing.T, b []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("not valid JSON: %v\n%s", err, b)
	}
	return m
}

func TestWriteJSONGolden(t *testing.T) {
	in := []offset.Target{
		target("%LMQ%fleet", "%LMQ%parent", "", 0, 5),
		target("billing", "%RETRY%billing", "", 0, 3),
		target("billing", `or"ders<`, "", 0, 17),
		target("billing", `or"ders<`, "", 9, 9223372036854775807),
	}
	const want = `{
	"offsetTable":{
		"%RETRY%billing@billing":{"0":3},
		"or\"ders<@billing":{"0":17,"9":9223372036854775807}
	},
	"lmqOffsetTable":{
		"%LMQ%parent@%LMQ%fleet":5
	}
}
`
	var b bytes.Buffer
	if err := WriteJSON(&b, slices.Values(in), nil); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", &b, want)
	}
	decodeStandard(t, b.Bytes())
	f, err := Read(&b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(f.All()); !slices.Equal(got, in) {
		t.Errorf("read back %v", got)
	}
}

// TestWriteJSONOfLMQGroups: lmqOffsetTable has place for queue 0 alone.
func TestWriteJSONOfLMQGroups(t *testing.T) {
	in := []offset.Target{
		target("%LMQ%a", "one", "", 0, 1),
		target("%LMQ%a", "two", "", 0, 2),
		target("%LMQ%a", "two", "", 1, 3),
		target("%LMQ%a", "zwei", "", 4, 5),
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, slices.Values(in), nil); err != nil {
		t.Fatal(err)
	}
	if table := string(decodeStandard(t, b.Bytes())["lmqOffsetTable"]); strings.Join(strings.Fields(table), "") != `{"one@%LMQ%a":1}` {
		t.Errorf("lmqOffsetTable is %s", table)
	}
	f, err := Read(&b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(f.All()); !slices.Equal(got, in) {
		t.Errorf("read back %v", got)
	}
}

func TestWriteJSONOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, slices.Values[[]offset.Target](nil), nil); err != nil {
		t.Fatal(err)
	}
	decodeStandard(t, b.Bytes())
	if f, err := Read(&b, Options{}); err != nil || f.Report.Offsets != 0 {
		t.Errorf("read back %v", err)
	}
}

func TestWriteJSONRefusesTwoBrokers(t *testing.T) {
	in := []offset.Target{target("moss-readers", "moss", "bk-north", 1, 100), target("moss-readers", "moss", "bk-south", 1, 7)}
	err := WriteJSON(io.Discard, slices.Values(in), nil)
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "bk-north") || !strings.Contains(err.Error(), "bk-south") {
		t.Errorf("error is %v", err)
	}
	err = WriteJSON(io.Discard, slices.Values([]offset.Target{target("g", "a@b", "", 0, 1)}), nil)
	if !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a topic with @ gives %v", err)
	}
}

func TestWriteJSONOverABase(t *testing.T) {
	const base = `{"dataVersion":{"counter":4},"pullOffsetTable":{"t@g":{0:1,1:2}},
"offsetTable":{"t@g":{0:1,7:-1},"nokey":{0:9},"%LMQ%p@%LMQ%q":{0:2},"z@z":{3:3}},
"lmqOffsetTable":{"%LMQ%a@%LMQ%b":7,"%LMQ%c@%LMQ%d":8}}`
	in := []offset.Target{
		target("%LMQ%b", "%LMQ%a", "", 0, 70),
		target("%LMQ%q", "%LMQ%p", "", 0, 20),
		target("g", "t", "", 0, 10),
		target("g", "t", "", 1, 11),
		target("new", "t", "", 0, 12),
	}
	const want = `{
	"dataVersion":{"counter":4},
	"pullOffsetTable":{"t@g":{"0":1,"1":2}},
	"offsetTable":{
		"%LMQ%p@%LMQ%q":{"0":20},
		"t@g":{"0":10,"1":11,"7":-1},
		"t@new":{"0":12},
		"nokey":{"0":9},
		"z@z":{"3":3}
	},
	"lmqOffsetTable":{
		"%LMQ%a@%LMQ%b":70,
		"%LMQ%c@%LMQ%d":8
	}
}
`
	var b bytes.Buffer
	if err := WriteJSON(&b, slices.Values(in), strings.NewReader(base)); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", &b, want)
	}
	decodeStandard(t, b.Bytes())
	if err := WriteJSON(io.Discard, slices.Values(in), strings.NewReader(`{"offsetTable":`)); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a broken base gives %v", err)
	}
}

func TestCSVRoundTrip(t *testing.T) {
	in := []offset.Target{
		target(" lead", "t", "", 0, 1),
		target("a,b", `q"x`, "bk-north", 0, 9223372036854775807),
		target("a,b", `q"x`, "bk-south", 0, 2),
		target("a,b", `q"x`, "bk-south", 5, 3),
		target("组一", "a@b", "", 1, 0),
	}
	var b bytes.Buffer
	if err := WriteCSV(&b, slices.Values(in)); err != nil {
		t.Fatal(err)
	}
	want := csvHead + "\n" + `" lead",t,,0,1
"a,b","q""x",bk-north,0,9223372036854775807
"a,b","q""x",bk-south,0,2
"a,b","q""x",bk-south,5,3
组一,a@b,,1,0
`
	if b.String() != want {
		t.Errorf("wrote\n%s", &b)
	}
	f, err := Read(strings.NewReader("\xef\xbb\xbf"+strings.ReplaceAll(b.String(), "\n", "\r\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(f.All()); !slices.Equal(got, in) {
		t.Errorf("read back %v", got)
	}
	if f.Report.Format != CSV || f.Report.Entries != 4 || f.Report.Offsets != 5 {
		t.Errorf("report is %+v", f.Report)
	}
}

func TestCSVRefusesAndSkips(t *testing.T) {
	for _, c := range []struct {
		in           string
		line, column int
		words        string
	}{
		{"group,topic,queue,offset\n", 1, 1, "the line that names the columns"},
		{csvHead + "\ng,t,,0\n", 2, 1, "4 fields"},
		{csvHead + "\ng,t,,0,1,2\n", 2, 1, "6 fields"},
		{csvHead + "\n\ng,t,,0,1.5\n", 3, 8, "fraction"},
		{csvHead + "\ng,t,,0,1e3\n", 2, 8, "exponent"},
		{csvHead + "\ng,t,,0,9223372036854775808\n", 2, 8, "64 bits"},
		{csvHead + "\ng,t,,,1\n", 2, 6, "queue id"},
		{csvHead + "\n\"g,t,,0,1\n", 2, 1, "has no end"},
		{csvHead + "\n\"g\"x,t,,0,1\n", 2, 4, "behind a quoted"},
		{csvHead + "\ng\"x,t,,0,1\n", 2, 2, "inside a field"},
		{csvHead + "\n" + strings.Repeat(",", 20), 2, 16, "more than 16"},
		{csvHead + "\n" + strings.Repeat("g", MaxString+1) + ",t,,0,1", 2, 1, "more than 4096"},
		{csvHead + "\nb,t,,0,1\na,t,,0,1\nb,t,,0,1\nx\n", 4, 1, "b/t/0 occurs twice"},
	} {
		_, err := Read(strings.NewReader(c.in), Options{})
		wantFault(t, err, c.line, c.column, c.words)
	}
	f, err := Read(strings.NewReader(csvHead+"\nz,t,,0,-1\ng,t,,-1,1\n,t,,0,1\ng,,,0,1\ng,t,,0,4"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantContent(t, f, map[string]string{"t@g": "0:4"})
	wantSkips(t, f, []string{
		`2:1: "z,t," queue 0: the offset is negative, which means that there is none`,
		`3:1: "g,t," queue -1: the queue id is negative`,
		`4:1: ",t," queue 0: no group`,
		`5:1: "g,," queue 0: no topic`,
	})
}

func TestWriteFileReplacesWholly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("half way")
	err := WriteFile(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	wantDir(t, dir, "old")
	if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	wantDir(t, dir, "new")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", st.Mode(), err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "x"), func(io.Writer) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder gives %v", err)
	}
}

// wantDir checks that out.json is the only file and holds text.
func wantDir(t *testing.T, dir, text string) {
	t.Helper()
	l, err := os.ReadDir(dir)
	if err != nil || len(l) != 1 {
		t.Errorf("the folder holds %v, %v", l, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "out.json")); err != nil || string(b) != text {
		t.Errorf("the file holds %q, %v; want %q", b, err, text)
	}
}

func TestHashAndGroup(t *testing.T) {
	read := func(in, broker string) *File {
		f, err := Read(strings.NewReader(in), Options{Broker: broker})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a := read(`{"offsetTable":{"t@g":{0:1,1:2},"t@h":{0:3}}}`, "")
	b := read("{\"offsetTable\":{\"t@h\":{\"0\":3},\n\"t@g\":{1:2,0:1},\"x\":{}}}", "")
	if a.Hash() != b.Hash() {
		t.Error("layout and order change the hash")
	}
	for _, other := range []*File{read(`{"offsetTable":{"t@g":{0:1,1:2},"t@h":{0:4}}}`, ""), read(`{"offsetTable":{"t@g":{0:1,1:2},"t@h":{0:3}}}`, "b"), a.OfGroup("h")} {
		if other.Hash() == a.Hash() {
			t.Errorf("the hash does not see %v", other.Entries)
		}
	}
	h := a.OfGroup("h")
	wantContent(t, h, map[string]string{"t@h": "0:3"})
	if h.Report.Entries != 1 || h.Report.Offsets != 1 || a.Report.Entries != 2 {
		t.Errorf("reports are %+v and %+v", h.Report, a.Report)
	}
	for range a.All() {
		break
	}
}
