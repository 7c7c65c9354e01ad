package offsetfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
	"pgregory.net/rapid"
)

func moss(broker string, queue int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: "moss", Broker: broker, QueueID: queue}
}

func readLocalCase(t *testing.T, name string) (*Local, error) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return ReadLocal(bytes.NewReader(b))
}

// TestLocalShapes reads the shapes of all writers: two brokers' queue 1 stay two.
func TestLocalShapes(t *testing.T) {
	both := map[offset.MessageQueue]int64{moss("bk-north", 1): 250, moss("bk-south", 1): 17}
	for name, want := range map[string]map[offset.MessageQueue]int64{
		"C03.java-pretty.offsets.json":   both,
		"C03.java-compact.offsets.json":  both,
		"C03.go.offset.json":             both,
		"C03.string-values.offsets.json": {moss("bk-north", 1): 250},
		"C36.offsets.json.bak":           {moss("bk-north", 0): 500},
	} {
		got, err := readLocalCase(t, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !maps.Equal(got.Offsets, want) || len(got.Notes) != 0 {
			t.Errorf("%s holds %v, notes %q", name, got.Offsets, got.Notes)
		}
	}
}

func TestLocalAccepts(t *testing.T) {
	for in, want := range map[string]map[offset.MessageQueue]int64{
		"\xef\xbb\xbf{\"offsetTable\":{}}":                                              {},
		`{"offsetTable":{{"queueId":0,"topic":"t"}:1}}`:                                 {{Topic: "t"}: 1},
		`{"offsetTable":{{"queueId":0,"topic":"t","brokerName":null}:1,}}`:              {{Topic: "t"}: 1},
		`{"offsetTable":{{"queueId":-1,"topic":"","x":[{}]}:-1}}`:                       {{QueueID: -1}: -1},
		`{"offsetTable":{" {\"queueId\":\"3\",\"topic\":\"t\",}\n":"9"}}`:               {{Topic: "t", QueueID: 3}: 9},
		`{"offsetTable":{{"topic":"\u0074\n","queueId":1}:9223372036854775807},"v":{}}`: {{Topic: "t\n", QueueID: 1}: 1<<63 - 1},
	} {
		got, err := ReadLocal(strings.NewReader(in))
		if err != nil || !maps.Equal(got.Offsets, want) {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestLocalRefuses(t *testing.T) {
	const one = `{"queueId":0,"topic":"t"}`
	for in, want := range map[string]string{
		"":                                     "the file is empty (0 bytes)",
		" ":                                    "the file ends where '{' should be",
		"\x00\x00":                             "not JSON: first byte 0x00",
		`[]`:                                   "not JSON: first byte 0x5b",
		`{}`:                                   "no offsetTable",
		`{"consumedOffset":{}}`:                `the members found are ["consumedOffset"]`,
		`{"offsetTable":null}`:                 "where '{' should be",
		`{"offsetTable":{}} x`:                 "behind the end of the object",
		`{"offsetTable":{},"offsetTable":{}}`:  `"offsetTable" occurs twice`,
		`{"offsetTable":{` + one:               "the file ends where ':' is missing",
		`{"offsetTable":{` + one + `:`:         "the file ends where offset is missing",
		`{"offsetTable":{` + one + `:1.5}}`:    "is a fraction",
		`{"offsetTable":{` + one + `:1e3}}`:    "has an exponent",
		`{"offsetTable":{` + one + `:null}}`:   "is not a plain integer",
		`{"offsetTable":{` + one + `:1 ` + one: "found '{' where ',' or '}' should be",
		`{"offsetTable":{7:1}}`:                "found '7' where a queue should be",
		`{"offsetTable":{"moss":1}}`:           "the string that begins here holds no queue",
		`{"offsetTable":{"":1}}`:               "the string that begins here holds no queue",
		`{"offsetTable":{"{} {}":1}}`:          "the string that begins here holds no queue: a queue without topic or queueId",
		`{"offsetTable":{"{\"topic\":\"t\",\"queueId\":1}}":1}}`:                   "found '}' behind the end of the queue",
		`{"offsetTable":{{"topic":"t"}:1}}`:                                        "a queue without topic or queueId",
		`{"offsetTable":{{"queueId":1,"topic":true}:1}}`:                           "found 't' where a name should be",
		`{"offsetTable":{{"queueId":1,"topic":[]}:1}}`:                             "found '[' where a name should be",
		`{"offsetTable":{{"queueId":2147483648,"topic":"t"}:1}}`:                   "does not fit into 32 bits",
		`{"offsetTable":{{"queueId":1,"queueId":1,"topic":"t"}:1}}`:                `"queueId" occurs twice in one queue`,
		`{"offsetTable":{` + one + `:9223372036854775808}}`:                        "does not fit into 64 bits",
		`{"offsetTable":{` + one + `:1,"{\"topic\":\"t\",\"queueId\":\"0\"}":1}}`:  `queue 0 of topic "t" on broker "" occurs twice`,
		`{"offsetTable":{{"topic":"` + strings.Repeat("x", MaxString+1) + `"}:1}}`: "has more than 4096 bytes",
		`{"x":` + strings.Repeat("[", MaxDepth+2) + `}`:                            "nest deeper than",
		"{\"offsetTable\":{}}" + strings.Repeat(" ", MaxLocalBytes):                "the file is longer than",
	} {
		got, err := ReadLocal(strings.NewReader(in))
		if got != nil || err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%.80q: error is %v, want one with %q", in, err, want)
		}
	}
	for name, first := range map[string]string{"C04.offsets.json": "first byte 0x00", "C04.offsets.json.bak": "first byte 0xd7", "C36.offsets.json": "is empty (0 bytes)"} {
		if _, err := readLocalCase(t, name); err == nil || !strings.Contains(err.Error(), first) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestLocalReaderFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := ReadLocal(io.MultiReader(strings.NewReader(`{"offsetTable":{`), failing{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// javaWrote is what fastjson 1.2.83 makes of RocketMQ's OffsetSerializeWrapper.
const javaWrote = "{\n\t\"offsetTable\":{{\n\t\t\t\"brokerName\":\"bk-north\",\n\t\t\t\"queueId\":1,\n\t\t\t\"topic\":\"moss\"\n\t\t}:250,{\n\t\t\t\"brokerName\":\"bk-south\",\n\t\t\t\"queueId\":1,\n\t\t\t\"topic\":\"moss\"\n\t\t}:17\n\t}\n}"

func TestWriteLocal(t *testing.T) {
	var b bytes.Buffer
	if err := WriteLocal(&b, map[offset.MessageQueue]int64{moss("bk-south", 1): 17, moss("bk-north", 1): 250}); err != nil || b.String() != javaWrote {
		t.Errorf("wrote %q, %v", b.String(), err)
	}
	b.Reset()
	if err := WriteLocal(&b, nil); err != nil || b.String() != "{\n\t\"offsetTable\":{}\n}" {
		t.Errorf("wrote %q, %v", b.String(), err)
	}
	if err := WriteLocal(brokenWriter{}, nil); err == nil {
		t.Error("a write that failed is not told")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestLocalSurvivesWriting(t *testing.T) {
	name := rapid.StringN(0, 20, 200)
	rapid.Check(t, func(t *rapid.T) {
		want := map[offset.MessageQueue]int64{}
		for range rapid.IntRange(0, 12).Draw(t, "queues") {
			mq := offset.MessageQueue{Topic: name.Draw(t, "topic"), Broker: name.Draw(t, "broker"), QueueID: rapid.Int32().Draw(t, "queue")}
			want[mq] = rapid.Int64().Draw(t, "offset")
		}
		var b bytes.Buffer
		if err := WriteLocal(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLocal(&b)
		if err != nil || !maps.Equal(got.Offsets, want) {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	})
}

func TestLocalFile(t *testing.T) {
	l, err := readLocalCase(t, "C03.java-pretty.offsets.json")
	if err != nil {
		t.Fatal(err)
	}
	l.Offsets[moss("bk-north", 0)] = 3
	l.Offsets[moss("bk-north", 9)] = -1
	l.Offsets[offset.MessageQueue{Topic: "a\n", QueueID: 1}] = 3
	f := l.File("moss-readers")
	got := fmt.Sprint(f.Entries)
	const want = "[{moss-readers moss bk-north [{0 3} {1 250}]} {moss-readers moss bk-south [{1 17}]}]"
	if got != want || f.Report.Offsets != 3 || f.Report.Entries != 2 {
		t.Errorf("got %s, %+v", got, f.Report)
	}
	if f.Report.SkippedTotal != 2 || !strings.Contains(f.Report.Skipped[0].Reason, "control character") || !strings.Contains(f.Report.Skipped[1].Reason, "negative") {
		t.Errorf("skipped %v", f.Report.Skipped)
	}
	if f := (&Local{}).File("g"); len(f.Entries) != 0 || f.Report.Offsets != 0 {
		t.Errorf("nothing gives %v", f)
	}
}

// TestReadKnowsLocalFiles by the first key of their table, wherever that stands;
// in a broker's file it is a name.
func TestReadKnowsLocalFiles(t *testing.T) {
	for in, want := range map[string]Format{
		"\xef\xbb\xbf{ \"offsetTable\" :\n{ {\"topic\":\"a.b\",\"queueId\":1}:5}}":                              LocalJSON,
		`{"offsetTable":{"{\"queueId\":1,\"topic\":\"a.b\"}":5}}`:                                               LocalJSON,
		`{"version":{"counter":1,"x":[{}]},"offsetTable":{{"topic":"a.b","queueId":1}:5}}`:                      LocalJSON,
		`{"a":"offsetTable","b":1, "offsetTable":{" {\"brokerName\":\"\",\"queueId\":1,\"topic\":\"a.b\"}":5}}`: LocalJSON,
		`{"dataVersion":{"counter":1},"offsetTable":{"a@g":{"1":5}},"groupTopicMap":{}}`:                        JSON,
		`{"offsetTable":{"{a}@g":{"1":5}}}`:                                                                     JSON,
		`{"offsetTable":{}}`:                                                                                    JSON,
		`{"offsetTable":{"{\"x\"}@g":{1:5}}}`:                                                                   JSON,
		"group,topic,broker,queue,offset\ng,t,,1,5\n":                                                           CSV,
	} {
		f, err := Read(strings.NewReader(in), Options{Group: "g"})
		if err != nil || f.Report.Format != want || f.Report.Bytes != int64(len(in)) {
			t.Errorf("%q is read as %+v, %v; want %s", in, f, err, want)
		}
		_, err = Read(strings.NewReader(in), Options{})
		if refused := errors.Is(err, offset.ErrInvalid); refused != (want == LocalJSON) {
			t.Errorf("%q without a group gives %v", in, err)
		}
		strict, err := Read(strings.NewReader(in), Options{Group: "g", StrictNames: true})
		if want == LocalJSON && (err != nil || strict.Report.SkippedTotal != 1 || f.Report.Offsets != 1) {
			t.Errorf("%q is read strictly as %+v, %v", in, strict, err)
		}
	}
	if _, err := Read(strings.NewReader("{}"), Options{Group: "a\nb"}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a group of two lines gives %v", err)
	}
}

// FuzzReadLocal feeds any bytes to the reader: it never panics, refuses with a
// place inside the file, and what it takes survives writing.
func FuzzReadLocal(f *testing.F) {
	files, err := filepath.Glob("testdata/C*.offset*.json*")
	if err != nil || len(files) < 8 {
		f.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"x":[null,{"1":2}],"offsetTable":{"{\"queueId\":0,\"topic\":\"\\u0074\",}":"7",},}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		l, err := ReadLocal(bytes.NewReader(in))
		if err != nil {
			checkFault(t, err, in)
			return
		}
		if len(l.Offsets) > len(in) {
			t.Fatalf("%d offsets of %d bytes", len(l.Offsets), len(in))
		}
		var b bytes.Buffer
		if err := WriteLocal(&b, l.Offsets); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLocal(&b)
		if err != nil || !maps.Equal(again.Offsets, l.Offsets) {
			t.Fatalf("does not survive: %v", err)
		}
		file := l.File("g")
		for x := range file.All() {
			mq := x.Key.MessageQueue
			if n, ok := l.Offsets[mq]; x.Key.Validate() != nil || !ok || n != x.Offset || n < 0 {
				t.Fatalf("%v is not valid or not in the file", x)
			}
		}
		if file.Report.Offsets+file.Report.SkippedTotal > len(l.Offsets) {
			t.Fatalf("%d offsets and %d skips of %d", file.Report.Offsets, file.Report.SkippedTotal, len(l.Offsets))
		}
	})
}
