package offsetfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// The fixtures are files of the kinds that brokers, their tools and editors
// have left behind; names and numbers are invented.

func readCase(t *testing.T, name string, o Options) (*File, error) {
	t.Helper()
	return ReadPath(filepath.Join("testdata", name), o)
}

func mustRead(t *testing.T, name string, o Options) *File {
	t.Helper()
	f, err := readCase(t, name, o)
	if err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
	return f
}

// content gives "topic@group" to "queue:offset,…" for comparing.
func content(f *File) map[string]string {
	m := map[string]string{}
	for _, e := range f.Entries {
		var q []string
		for _, x := range e.Queues {
			q = append(q, fmt.Sprintf("%d:%d", x.ID, x.Offset))
		}
		m[e.Topic+"@"+e.Group] = strings.Join(q, ",")
	}
	return m
}

func wantContent(t *testing.T, f *File, want map[string]string) {
	t.Helper()
	got := content(f)
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			t.Errorf("%q holds %q, want %q", k, got[k], want[k])
		}
		delete(got, k)
	}
	for k := range got {
		t.Errorf("unexpected %q", k)
	}
}

// wantFault checks that err refuses the file at the place, with these words.
func wantFault(t *testing.T, err error, line, column int, words ...string) {
	t.Helper()
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("error is %v, want a *Fault", err)
	}
	if !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("%v does not wrap offset.ErrInvalid", err)
	}
	if f.Line != line || f.Column != column {
		t.Errorf("fault at %d:%d, want %d:%d (%v)", f.Line, f.Column, line, column, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

// reread writes f as JSON and reads that.
func reread(t *testing.T, f *File) *File {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, f.All(), nil); err != nil {
		t.Fatal(err)
	}
	g, err := Read(&b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestC01BareKeysInHashOrder(t *testing.T) {
	want := map[string]string{
		"quill-orders@quill-billing":            "0:6,1:5,2:5,3:5,4:3,5:2,6:2,7:2",
		"%RETRY%quill-billing@quill-billing":    "0:48",
		"quill-ledger-00@quill-audit":           "0:1099,1:1101,2:1101,3:1097",
		"OFFSET_MOVED_EVENT@__MONITOR_CONSUMER": "0:8",
		"quill-ledger-01@quill-audit":           "0:2009,1:2008",
	}
	f := mustRead(t, "C01.consumerOffset.json.bak", Options{})
	if f.Report.Entries != 5 || f.Report.Offsets != 16 || f.Report.SkippedTotal != 0 {
		t.Errorf("report is %+v, want 5 entries and 16 offsets", f.Report)
	}
	wantContent(t, f, want)
	wantContent(t, reread(t, f), want)
}

func TestC01FolderWithOnlyTheOlderCopy(t *testing.T) {
	dir := t.TempDir()
	copyFixture(t, "C01.consumerOffset.json.bak", filepath.Join(dir, "consumerOffset.json.bak"))
	_, err := ReadPath(dir, Options{})
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "consumerOffset.json.bak") {
		t.Fatalf("error is %v, want a refusal that names the .bak", err)
	}
}

func copyFixture(t *testing.T, name, to string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestC02ThreePartKeyAndDerivedTables(t *testing.T) {
	want := map[string]string{
		"fern@fern-pull":           "0:4100,1:4101,2:4099,3:4099",
		"fern@fern-push@broadcast": "0:777,1:778,2:777,3:776",
		"%RETRY%fern-push@fern":    "0:0",
		"fern@fern-push":           "0:9001,1:9003,2:9001,3:9000",
	}
	f := mustRead(t, "C02.consumerOffset.json", Options{})
	wantContent(t, f, want)
	if f.Report.Entries != 4 || f.Report.Offsets != 13 {
		t.Errorf("report is %+v, want 4 entries and 13 offsets", f.Report)
	}
	var found bool
	for _, e := range f.Entries {
		found = found || e.Topic == "fern" && e.Group == "fern-push@broadcast" && e.Queues[0] == Queue{0, 777}
		if strings.Contains(e.Group+e.Topic, "gone") || strings.Contains(e.Group+e.Topic, "ghost") {
			t.Errorf("%q of %q comes from groupTopicMap", e.Topic, e.Group)
		}
	}
	if !found {
		t.Error("group fern-push@broadcast, topic fern, queue 0 is not 777")
	}
	v := f.Report.DataVersion
	if v == nil || v.Counter != 731 || v.StateVersion == nil || *v.StateVersion != 0 || v.Timestamp != 1700000000123 {
		t.Errorf("dataVersion is %+v", v)
	}
	wantContent(t, reread(t, f), want)
}

func TestC05FilesWithoutOffsets(t *testing.T) {
	f := mustRead(t, "C05.fresh.consumerOffset.json", Options{})
	if f.Report.Entries != 0 || f.Report.Offsets != 0 || f.Report.SkippedTotal != 0 || len(f.Entries) != 0 {
		t.Errorf("the fresh file gives %+v", f.Report)
	}
	_, err := readCase(t, "C05.braces.consumerOffset.json", Options{})
	wantFault(t, err, 1, 1, "no offsetTable or lmqOffsetTable", "empty")
	_, err = readCase(t, "C05.zero.consumerOffset.json", Options{})
	wantFault(t, err, 1, 1, "0 bytes")
	_, err = readCase(t, "C05.lookalike.consumerOffset.json", Options{})
	wantFault(t, err, 1, 1, "no offsetTable or lmqOffsetTable", `"consumedOffset"`)
}

func TestC06NamesAsTheyAre(t *testing.T) {
	want := map[string]string{
		"inst_k%orders@inst_k%billing":         "0:10,1:11",
		"%RETRY%inst_k%billing@inst_k%billing": "0:2",
		"%DLQ%inst_k%billing@inst_k%drain":     "0:1",
		"%RETRY%billing_orders@billing":        "0:3",
		"%RETRY%billing+orders@billing":        "0:4",
		"orders.v2@billing":                    "0:5",
		"left|right@bar|baz":                   "0:6",
		"${mq.ns}%orders@${mq.ns}%billing":     "0:7",
	}
	f := mustRead(t, "C06.consumerOffset.json", Options{})
	wantContent(t, f, want)
	wantSkips(t, f, []string{
		`12:3: "noseparator": no '@' between topic and group`,
		`13:3: "orders@": no group behind the '@'`,
		`14:3: "@billing": no topic before the '@'`,
	})

	delete(want, "orders.v2@billing")
	delete(want, "${mq.ns}%orders@${mq.ns}%billing")
	f = mustRead(t, "C06.consumerOffset.json", Options{StrictNames: true})
	wantContent(t, f, want)
	wantSkips(t, f, []string{
		`9:3: "orders.v2@billing": topic holds '.', which RocketMQ's validators refuse`,
		`11:3: "${mq.ns}%orders@${mq.ns}%billing": topic holds '$', which RocketMQ's validators refuse; group holds '$', which RocketMQ's validators refuse`,
		`12:3: "noseparator": no '@' between topic and group`,
		`13:3: "orders@": no group behind the '@'`,
		`14:3: "@billing": no topic before the '@'`,
	})
}

func wantSkips(t *testing.T, f *File, want []string) {
	t.Helper()
	var got []string
	for _, s := range f.Report.Skipped {
		got = append(got, s.String())
	}
	if !slices.Equal(got, want) || f.Report.SkippedTotal != len(want) {
		t.Errorf("skipped (%d in all):\n%s\nwant:\n%s", f.Report.SkippedTotal, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestC09ToolOutputAndEditors(t *testing.T) {
	f := mustRead(t, "C09.bom.consumerOffset.json", Options{})
	wantContent(t, f, map[string]string{"moss@moss-readers": "0:31,1:32"})

	f = mustRead(t, "C09.rocksdb-stdout.txt", Options{})
	wantContent(t, f, map[string]string{"moss@moss-readers": "0:31,1:32", "%RETRY%moss-readers@moss-readers": "0:0"})
	if len(f.Report.Notes) != 1 || !strings.Contains(f.Report.Notes[0], "skipped line 1") || !strings.Contains(f.Report.Notes[0], "Use [local mode]") {
		t.Errorf("notes are %q, want one on line 1", f.Report.Notes)
	}
	if f.Report.DataVersion != nil {
		t.Errorf("dataVersion is %+v, want none", f.Report.DataVersion)
	}

	_, err := readCase(t, "C09.rocksdb-json-disabled.txt", Options{})
	wantFault(t, err, 2, 1, "RocksDB tool", "not JSON", "jsonEnable")
}

func TestC17NumbersThatAreNoOffsets(t *testing.T) {
	_, err := readCase(t, "C17.consumerOffset.json", Options{})
	wantFault(t, err, 7, 19, "queue 0 occurs twice")
	_, err = readCase(t, "C17.fraction.consumerOffset.json", Options{})
	wantFault(t, err, 1, 32, `"1.5" is a fraction`)
	_, err = readCase(t, "C17.overflow.consumerOffset.json", Options{})
	wantFault(t, err, 1, 52, "9223372036854775808", "64 bits")

	// The same file without the queue that occurs twice.
	b, err := os.ReadFile("testdata/C17.consumerOffset.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(strings.NewReader(strings.Replace(string(b), "0:3,0:4", "0:3,1:4", 1)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantContent(t, f, map[string]string{"moss@neg": "1:5", "moss@max": "0:9223372036854775807", "moss@dup": "0:3,1:4"})
	wantSkips(t, f, []string{
		`3:15: "moss@neg" queue 0: the offset is negative, which means that there is none`,
		`4:24: "moss@verynegative" queue 0: the offset is negative, which means that there is none`,
		`6:16: "moss@qneg" queue -1: the queue id is negative`,
	})
	if *f.Report.Skipped[1].Value != -898232391123 {
		t.Errorf("value is %d", *f.Report.Skipped[1].Value)
	}
}

var c57 = map[string]string{
	"orders@search_index":    "0:33000,2:34002,4:35004,6:36006",
	"refunds@audit-2":        "0:25000,1:26001,2:27002,3:28003,4:29004,5:30005,6:31006,7:32007",
	"%RETRY%audit-2@audit-2": "0:0",
	"orders@audit-2":         "0:17000,1:18001,2:19002,3:20003,4:21004,5:22005,6:23006,7:24007",
	"refunds@search_index":   "2:9223372036854775807,4:39004,6:40006,99:5",
	"orders@pay":             "0:1000,1:2001,2:3002,3:4003,4:5004,5:6005,6:7006,7:8007",
	"refunds@pay":            "0:9000,1:10001,2:11002,3:12003,4:13004,5:14005,6:15006,7:16007",
	"%RETRY%pay@pay":         "0:3",
}

var c57Files = []string{"C57.5.5.0.consumerOffset.json", "C57.4.9.7.consumerOffset.json", "C57.5.5.0.code43.body"}

func TestC57WhatRealBrokersWrote(t *testing.T) {
	hashes := map[[32]byte]bool{}
	for _, name := range c57Files {
		t.Run(name, func(t *testing.T) {
			f := mustRead(t, name, Options{})
			wantContent(t, f, c57)
			if f.Report.Entries != 8 || f.Report.Offsets != 42 || f.Report.SkippedTotal != 1 {
				t.Errorf("report is %+v, want 8 entries, 42 offsets, 1 skipped", f.Report)
			}
			s := f.Report.Skipped[0]
			if s.Key != "refunds@search_index" || *s.Queue != 0 || *s.Value != -1 {
				t.Errorf("skipped %v", s)
			}
			wantContent(t, reread(t, f), c57)
			hashes[f.Hash()] = true
		})
	}
	if len(hashes) != 1 {
		t.Errorf("%d hashes of the same content", len(hashes))
	}
}

func TestC57BaseKeepsWhatWeDoNotOwn(t *testing.T) {
	for _, name := range c57Files {
		t.Run(name, func(t *testing.T) {
			f := mustRead(t, name, Options{})
			base, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			var ours []offset.Target
			for x := range f.All() {
				if x.Key.Group != "pay" {
					x.Offset -= x.Offset % 2 // something to tell apart
					ours = append(ours, x)
				}
			}
			var out bytes.Buffer
			if err := WriteJSON(&out, slices.Values(ours), bytes.NewReader(base)); err != nil {
				t.Fatal(err)
			}
			checkBase(t, out.Bytes(), strings.Contains(name, "5.5.0"))
		})
	}
}

// checkBase checks the file laid over a fixture of C57.
func checkBase(t *testing.T, out []byte, v5 bool) {
	t.Helper()
	g, err := Read(bytes.NewReader(out), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for k, v := range c57 {
		want[k] = v
	}
	want["orders@audit-2"] = "0:17000,1:18000,2:19002,3:20002,4:21004,5:22004,6:23006,7:24006"
	want["refunds@audit-2"] = "0:25000,1:26000,2:27002,3:28002,4:29004,5:30004,6:31006,7:32006"
	want["refunds@search_index"] = "2:9223372036854775806,4:39004,6:40006,99:4"
	wantContent(t, g, want)
	if g.Report.SkippedTotal != 1 || *g.Report.Skipped[0].Value != -1 {
		t.Errorf("the -1 of the base is gone: %+v", g.Report.Skipped)
	}
	members := decodeStandard(t, out)
	if !v5 {
		return
	}
	if g.Report.DataVersion == nil || g.Report.DataVersion.Timestamp != 1795970284465 {
		t.Errorf("dataVersion is %+v", g.Report.DataVersion)
	}
	for _, m := range []string{"groupTopicMap", "pullOffsetTable"} {
		if _, ok := members[m]; !ok {
			t.Errorf("the member %s of the base is gone", m)
		}
	}
}
