package offsetfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestReadRefuses(t *testing.T) {
	long := strings.Repeat("x", MaxString+1)
	deep := strings.Repeat(`{"a":`, MaxDepth+2)
	for _, c := range []struct {
		name, in     string
		line, column int
		words        string
	}{
		{"spaces only", " \n\t", 2, 2, "ends where '{'"},
		{"not JSON", "\x00\x00\x00", 1, 1, "first byte 0x00"},
		{"binary", "\xd7\x01", 1, 1, "first byte 0xd7"},
		{"array", "[]", 1, 1, "begins with '{'"},
		{"backup", "TIDEBACK\x01\x00\x00\x00", 1, 1, "`tidemark cluster restore`"},
		{"utf-16", "\xff\xfe{\x00", 1, 1, "UTF-16"},
		{"cut in a table", `{"offsetTable":{"t@g":{0:1`, 1, 27, "cut off"},
		{"cut in a string", "{\"offsetTable\":{\n\"t@", 2, 1, "has no end"},
		{"cut in an escape", `{"a\`, 1, 4, "cut off"},
		{"cut after the colon", `{"offsetTable":`, 1, 16, "cut off"},
		{"rest", `{"offsetTable":{}} x`, 1, 20, "behind the end"},
		{"two objects", `{"offsetTable":{}}{}`, 1, 19, "behind the end"},
		{"no colon", `{"offsetTable" {}}`, 1, 16, "where ':'"},
		{"no comma", `{"offsetTable":{"a@b":{0:1 1:2}}}`, 1, 28, "where ','"},
		{"two commas", `{"offsetTable":{"a@b":{0:1,,1:2}}}`, 1, 28, "where a key"},
		{"table is a list", `{"offsetTable":[]}`, 1, 16, "'{'"},
		{"queues are a list", `{"offsetTable":{"a@b":[1]}}`, 1, 23, "queues"},
		{"queues are null", `{"offsetTable":{"a@b":null}}`, 1, 23, "queues"},
		{"offset is null", `{"offsetTable":{"a@b":{0:null}}}`, 1, 26, "not a plain integer"},
		{"offset is a list", `{"offsetTable":{"a@b":{0:[1]}}}`, 1, 26, "'['"},
		{"offset is empty", `{"offsetTable":{"a@b":{0:""}}}`, 1, 26, "not a plain integer"},
		{"fraction", `{"offsetTable":{"a@b":{0:1.0}}}`, 1, 26, "fraction"},
		{"exponent", `{"offsetTable":{"a@b":{0:1e3}}}`, 1, 26, "exponent"},
		{"quoted exponent", `{"offsetTable":{"a@b":{0:"1E3"}}}`, 1, 26, "exponent"},
		{"plus", `{"offsetTable":{"a@b":{0:+1}}}`, 1, 26, "not a plain integer"},
		{"leading zero", `{"offsetTable":{"a@b":{0:01}}}`, 1, 26, "not a plain integer"},
		{"minus alone", `{"offsetTable":{"a@b":{0:-}}}`, 1, 26, "not a plain integer"},
		{"hexadecimal", `{"offsetTable":{"a@b":{0:0x1}}}`, 1, 26, "not a plain integer"},
		{"overflow", `{"offsetTable":{"a@b":{0:9223372036854775808}}}`, 1, 26, "64 bits"},
		{"underflow", `{"offsetTable":{"a@b":{0:-9223372036854775809}}}`, 1, 26, "64 bits"},
		{"queue overflow", `{"offsetTable":{"a@b":{2147483648:1}}}`, 1, 24, "32 bits"},
		{"queue is a word", `{"offsetTable":{"a@b":{"x":1}}}`, 1, 24, "queue id"},
		{"queue is bare", `{"offsetTable":{"a@b":{x:1}}}`, 1, 24, "where a key"},
		{"queue twice", "{\"offsetTable\":{\"a@b\":{0:1,\n\"0\":1}}}", 2, 1, "queue 0 occurs twice"},
		{"negative queue twice", `{"offsetTable":{"a@b":{-1:1,-1:2}}}`, 1, 29, "queue -1 occurs twice"},
		{"key twice", "{\"offsetTable\":{\"a@b\":{0:1},\n\"a@b\":{1:1}}}", 2, 1, `"a@b" occurs twice`},
		{"skipped key twice", `{"offsetTable":{"ab":{},"ab":{}}}`, 1, 25, `"ab" occurs twice`},
		{"key escaped twice", `{"offsetTable":{"a@b":{},"\u0061@b":{}}}`, 1, 26, `"a@b" occurs twice`},
		{"key in both tables", `{"offsetTable":{"a@b":{0:1}},"lmqOffsetTable":{"a@b":1}}`, 1, 48, `occurs twice`},
		{"member twice", `{"offsetTable":{},"offsetTable":{}}`, 1, 19, `"offsetTable" occurs twice`},
		{"long string", `{"offsetTable":{"` + long + `":{}}}`, 1, 17, "more than 4096"},
		{"long number", `{"offsetTable":{"a@b":{0:` + strings.Repeat("1", MaxString+1) + `}}}`, 1, 26, "more than 4096"},
		{"deep", `{"x":` + deep, 1, 326, "deeper than 64"},
		{"many members", "{" + strings.Join(members(MaxDepth+1), ",") + "}", 1, 568, "more than 64 members"},
		{"bad escape", `{"offsetTable":{"\q@b":{}}}`, 1, 18, "escape"},
		{"bad unicode", `{"offsetTable":{"\u12g4":{}}}`, 1, 18, "four hexadecimal"},
		{"half a pair", `{"offsetTable":{"\ud83d@b":{}}}`, 1, 18, "surrogate"},
		{"line end in a name", "{\"offsetTable\":{\"a\n@b\":{}}}", 1, 19, "inside a string"},
		{"bad word", `{"x":truth}`, 1, 6, "where a value"},
		{"lmq table of tables", `{"lmqOffsetTable":{"a@b":{0:1}}}`, 1, 26, "where offset"},
		{"banner alone", "Use [local mode] \n", 2, 1, "ends where '{'"},
		{"banner without end", "Use [" + long, 1, 1, "where '{'"},
		{"another banner", "Loading…\n{\"offsetTable\":{}}", 1, 1, "Loading"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.in), Options{})
			wantFault(t, err, c.line, c.column, c.words)
			_, slow := Read(iotest.OneByteReader(strings.NewReader(c.in)), Options{})
			if slow == nil || slow.Error() != err.Error() {
				t.Errorf("byte by byte the error is %v", slow)
			}
		})
	}
}

func members(n int) (m []string) {
	for i := range n {
		m = append(m, fmt.Sprintf(`"m%d":{}`, i))
	}
	return m
}

func TestReadTakes(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"quoted queues and offsets", `{"offsetTable":{"t@g":{"0":"7",1:8}}}`, "0:7,1:8"},
		{"trailing commas", "{\"offsetTable\":{\"t@g\":{0:7,},},}", "0:7"},
		{"tabs and CRLF", "{\r\n\t\"offsetTable\" :\t{\r\n\"t@g\" : { 0 : 7 } } }\r\n", "0:7"},
		{"escapes", `{"offsetTable":{"\u0074@\u0067":{0:7}}}`, "0:7"},
		{"unknown members", `{"x":[1,-2.5e3,true,null,{"y":{1:2}}],"offsetTable":{"t@g":{0:7}}}`, "0:7"},
		{"data version is null", `{"dataVersion":null,"offsetTable":{"t@g":{0:7}}}`, "0:7"},
		{"lmq", `{"lmqOffsetTable":{"t@g":7}}`, "0:7"},
		{"largest queue", `{"offsetTable":{"t@g":{2147483647:7}}}`, "2147483647:7"},
		{"minus zero", `{"offsetTable":{"t@g":{0:-0}}}`, "0:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(c.in), Options{})
			if err != nil {
				t.Fatal(err)
			}
			wantContent(t, f, map[string]string{"t@g": c.want})
		})
	}
}

func TestReadManyQueuesOfOneKey(t *testing.T) {
	const n = 50_000
	var b strings.Builder
	for i := n - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "%d:%d,", i, 2*i)
	}
	in := `{"offsetTable":{"t@g":{` + b.String() + `}}}`
	f, err := Read(strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Report.Entries != 1 || f.Report.Offsets != n {
		t.Fatalf("report is %+v", f.Report)
	}
	for i, q := range f.Entries[0].Queues {
		if q != (Queue{int32(i), int64(2 * i)}) {
			t.Fatalf("queue %d is %v", i, q)
		}
	}
	_, err = Read(strings.NewReader(strings.Replace(in, "0:0,}", "0:0,49999:1}", 1)), Options{})
	var fa *Fault
	if !errors.As(err, &fa) || !strings.Contains(fa.Text, "queue 49999 occurs twice") {
		t.Errorf("error is %v", err)
	}
}

func TestSkippedNames(t *testing.T) {
	long := strings.Repeat("g", offset.MaxName+1)
	f, err := Read(strings.NewReader(`{"offsetTable":{"t@`+long+`":{0:1},"t\n@g":{0:1},"t@`+"\xff"+`":{0:1},"a@b":{0:1}}}`), Options{Broker: "north"})
	if err != nil {
		t.Fatal(err)
	}
	wantContent(t, f, map[string]string{"a@b": "0:1"})
	if f.Entries[0].Broker != "north" {
		t.Errorf("broker is %q", f.Entries[0].Broker)
	}
	if f.Report.SkippedTotal != 3 {
		t.Fatalf("skipped %v", f.Report.Skipped)
	}
	for i, words := range []string{"256 bytes", "control character", "UTF-8"} {
		if s := f.Report.Skipped[i].String(); !strings.Contains(s, words) || strings.Contains(s, "\n") || strings.Contains(s, "\xff") {
			t.Errorf("skip %q does not say %q, or holds the name unquoted", s, words)
		}
	}
}

func TestSkipsAreCountedBeyondTheList(t *testing.T) {
	var b strings.Builder
	for i := range MaxSkips + 5 {
		fmt.Fprintf(&b, `"%d":{},`, i)
	}
	f, err := Read(strings.NewReader(`{"offsetTable":{`+b.String()+`}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Report.SkippedTotal != MaxSkips+5 || len(f.Report.Skipped) != MaxSkips {
		t.Errorf("%d skipped, %d listed", f.Report.SkippedTotal, len(f.Report.Skipped))
	}
}

func TestReadFailingReader(t *testing.T) {
	broken := errors.New("the line is dead")
	for _, in := range []string{"", `{"offsetTable":{"t@`, `{"offsetTable":{"t@g":{0:1`, csvHead + "\ng,t,"} {
		_, err := Read(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), Options{})
		if !errors.Is(err, broken) {
			t.Errorf("behind %q the error is %v", in, err)
		}
	}
}

func TestReadPathFindsTheFile(t *testing.T) {
	store := t.TempDir()
	if err := os.Mkdir(filepath.Join(store, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPath(store, Options{}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("an empty folder gives %v", err)
	}
	copyFixture(t, "C01.consumerOffset.json.bak", filepath.Join(store, "config", "consumerOffset.json"))
	f, err := ReadPath(store, Options{})
	if err != nil || f.Report.Offsets != 16 {
		t.Errorf("the store's folder gives %v", err)
	}
	if _, err := ReadPath(filepath.Join(store, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if _, err := ReadPath("/dev/null", Options{}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a device gives %v", err)
	}
}

func TestStrictLengths(t *testing.T) {
	for _, c := range []struct {
		key string
		ok  bool
	}{
		{strings.Repeat("t", 127) + "@g", true},
		{strings.Repeat("t", 128) + "@g", false},
		{"t@" + strings.Repeat("g", 120), true},
		{"t@" + strings.Repeat("g", 121), false},
		{"t@g@broadcast", true},
		{"%RETRY%g+t@g", true},
		{"%RETRY%h+t@g", false},
		{"t@组", false},
	} {
		f, err := Read(strings.NewReader(`{"offsetTable":{"`+c.key+`":{0:1}}}`), Options{StrictNames: true})
		if err != nil || (f.Report.Offsets == 1) != c.ok {
			t.Errorf("%q: %+v, %v; want taken %v", c.key, f.Report, err, c.ok)
		}
	}
}
