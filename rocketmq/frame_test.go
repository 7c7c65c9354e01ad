package rocketmq

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// frames reads a fixture: a line of hexadecimal digits a frame, each under a
// line that says what it is.
func frames(t testing.TB, name string) (list [][]byte, what []string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if text, ok := strings.CutPrefix(line, "# "); ok {
			what = append(what, text)
			continue
		}
		b, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	if len(list) == 0 || len(list) != len(what) {
		t.Fatalf("%s has %d frames and %d comments", name, len(list), len(what))
	}
	return list, what
}

func TestC22AnyLanguageIsRead(t *testing.T) {
	// apache/rocketmq-client-go#638, #666, #747; mxsm/rocketmq-rust#9295
	list, what := frames(t, "C22.frames.hex")
	for i, b := range list {
		h, n, err := readFrame(bytes.NewReader(b), 0)
		if err != nil {
			t.Errorf("%s: %v", what[i], err)
			continue
		}
		want := map[string]string{"consumerGroup": "moss-readers", "topic": "moss", "queueId": "0"}
		got := maps.Clone(h.Fields)
		maps.DeleteFunc(got, func(k, _ string) bool { return want[k] == "" })
		if h.Code != 14 || h.Opaque != int32(101+i) || n != 0 || !maps.Equal(got, want) {
			t.Errorf("%s: %+v, body of %d", what[i], h, n)
		}
	}
}

func TestC23BadFramesAreRefused(t *testing.T) {
	// apache/rocketmq#10832, #3474
	list, what := frames(t, "C23.frames.hex")
	for i, b := range list {
		h, _, err := readFrame(bytes.NewReader(b), maxBody)
		if i == len(list)-1 {
			if err != nil || h.Opaque != 201 {
				t.Errorf("%s: %+v, %v", what[i], h, err)
			}
			continue
		}
		// what is cut off before its fault shows is no frame either
		if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %+v, %v", what[i], h, err)
		}
	}
}

// TestLengthsAreNotBelieved: what was announced and did not come costs no memory.
func TestLengthsAreNotBelieved(t *testing.T) {
	long := func(length, header uint32) []byte {
		b := binary.BigEndian.AppendUint32(nil, length)
		return binary.BigEndian.AppendUint32(b, header)
	}
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"2 GiB":                   {long(1<<31-1, 100), "a body of 2147483543 bytes is announced"},
		"a body beyond the bound": {long(4+10+maxBody+1, 10), "16777216 are the most"},
		"a header of 16 MiB":      {long(1<<25, 1<<24-1), "a header of 16777215 bytes"},
		"header beyond the frame": {long(20, 17), "a header of 17 bytes is announced in a frame of 20"},
		"length 3":                {long(3, 0), "a frame of 3 bytes"},
		"negative":                {long(1<<32-5, 0), "a frame of -5 bytes"},
		"HTTP":                    {[]byte("HTTP/1.1 400 Bad Request\r\n"), "is announced"},
		"kind 9":                  {append(long(4+2, 9<<24|2), "{}"...), "of the kind 9"},
		"no header":               {long(4, 0), "not the JSON of a frame"},
		"header of an array":      {append(long(4+4, 4), "[14]"...), "not the JSON of a frame"},
		"header of null fields":   {append(long(4+26, 26), `{"code":0,"extFields":[1]}`...), "not the JSON of a frame"},
		"code of 2^70":            {append(long(4+31, 31), `{"code":1180591620717411303424}`...), "not the JSON of a frame"},
	} {
		before := allocated()
		_, _, err := readFrame(bytes.NewReader(c.in), maxBody)
		if grown := allocated() - before; grown > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, grown)
		}
		if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestCutOffFrames(t *testing.T) {
	whole := frameOf(header{Code: 0, Opaque: 1, Flag: flagResponse}, "body")
	for n := range len(whole) - 4 {
		_, _, err := readFrame(bytes.NewReader(whole[:n]), maxBody)
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if !errors.Is(err, want) {
			t.Errorf("%d bytes of a frame: %v", n, err)
		}
	}
	if _, n, err := readFrame(bytes.NewReader(whole), maxBody); err != nil || n != 4 {
		t.Errorf("the whole frame: body of %d, %v", n, err)
	}
}

// TestGoldenFrames: what RocketMQ's own client writes is read.
func TestGoldenFrames(t *testing.T) {
	want := map[string]string{"queueId": "3", "bname": "b", "commitOffset": "9", "topic": "T", "consumerGroup": "G"}
	for name, text := range map[string]string{
		"binary": "0000006601000062000f0000000000000700000002000000000000004d00077175657565496400000001330005626e616d650000000162000c636f6d6d69744f666673657400000001390005746f7069630000000154000d636f6e73756d657247726f75700000000147",
		"JSON":   "000000bd000000b9" + hex.EncodeToString([]byte(`{"code":15,"extFields":{"queueId":"3","bname":"b","commitOffset":"9","topic":"T","consumerGroup":"G"},"flag":2,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":0}`)),
	} {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		h, n, err := readFrame(bytes.NewReader(b), 0)
		if err != nil || n != 0 || h.Code != 15 || h.Opaque != 7 || h.Flag != flagOneway || !maps.Equal(h.Fields, want) {
			t.Errorf("%s: %+v, body of %d, %v", name, h, n, err)
		}
	}
}

// TestAnswersOfRealBrokers: what name servers and brokers have sent, in binary
// (a 5.5.0 that is set to it answers so whatever it is asked in) and in JSON.
func TestAnswersOfRealBrokers(t *testing.T) {
	list, what := frames(t, "answers.frames.hex")
	for i, b := range list {
		r := bytes.NewReader(b)
		h, n, err := readFrame(r, maxBody)
		if err != nil || !h.answers() || h.Opaque != 7 || n != int64(r.Len()) {
			t.Errorf("%s: %+v, body of %d, %v", what[i], h, n, err)
			continue
		}
		version, _, _ := strings.Cut(what[i], ",")
		asked := what[i][strings.LastIndex(what[i], ": ")+2:]
		body := string(b[len(b)-r.Len():])
		var got string
		switch {
		case h.Code != 0:
			got = fmt.Sprintf("%d %s", h.Code, h.Remark)
		case n > 0:
			got = body[:20]
		default:
			got = h.Fields["offset"]
		}
		want := map[string]string{
			"the brokers":         `{"brokerAddrTable":{`,
			"an unknown topic":    "17 No topic route info in name server for the topic: nosuch",
			"the end of a queue":  "5",
			"the ends of a topic": `{"offsetTable":{{"br`,
			"an unknown request":  "3  request type 106 not supported",
		}[asked]
		if !strings.HasPrefix(got, want) || want == "" || h.Version != map[string]int{"5.5.0": 513, "4.9.7": 407}[version] {
			t.Errorf("%s: version %d, %q; want %q", what[i], h.Version, got, want)
		}
	}
}

func TestBinaryHeaderWithARemarkAndTwins(t *testing.T) {
	b := []byte{0, 17, 0, 1, 151, 0, 0, 0, 9, 0, 0, 0, 1}
	b = append(b, 0, 0, 0, 3, 'a', 0xff, 'b')
	b = append(b, 0, 0, 0, 17, 0, 1, 'k', 0, 0, 0, 1, '1', 0, 1, 'k', 0, 0, 0, 2, '2', '2')
	h, err := decodeBinary(b)
	if err != nil || h.Code != 17 || h.Version != 407 || h.Opaque != 9 || !h.answers() || h.Remark != "a\xffb" || h.Fields["k"] != "22" {
		t.Errorf("%+v, %v", h, err)
	}
	for n := range len(b) {
		if _, err := decodeBinary(b[:n]); !errors.Is(err, offset.ErrDamaged) {
			t.Errorf("%d bytes of a header: %v", n, err)
		}
	}
}

// TestRequestFrame holds what we send to the letter.
func TestRequestFrame(t *testing.T) {
	got := appendFrame(nil, header{Code: 30, Language: "GO", Version: version407, Opaque: 3, Fields: map[string]string{"topic": `a"<b`, "queueId": "1"}})
	text := `{"code":30,"language":"GO","version":407,"opaque":3,"flag":0,"extFields":{"queueId":"1","topic":"a\"\u003cb"}}`
	want := append([]byte{0, 0, 0, byte(4 + len(text)), 0, 0, 0, byte(len(text))}, text...)
	if !bytes.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
