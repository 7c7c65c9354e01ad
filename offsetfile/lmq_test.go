package offsetfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lmqFile is a lmqConsumerOffset.json as RocketMQ's LmqConsumerOffsetManager has
// it written: the offsets of groups of its own kind as one number to a key, and
// those of all other groups in the same file, since that broker writes no other.
const lmqFile = `{
	"dataVersion":{
		"counter":3,
		"stateVersion":0,
		"timestamp":1700000000123
	},
	"groupTopicMap":{
		"billing":["orders"
		]
	},
	"lmqOffsetTable":{
		"%LMQ%home/+/light@%LMQ%fleet":41,
		"%LMQ%fleet@%LMQ%fleet":-1
	},
	"offsetTable":{
		"orders@billing":{0:17,1:9
		}
	},
	"pullOffsetTable":{}
}`

func TestLMQFile(t *testing.T) {
	f, err := Read(strings.NewReader(lmqFile), Options{Broker: "b"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"%LMQ%home/+/light@%LMQ%fleet": "0:41", "orders@billing": "0:17,1:9"}
	wantContent(t, f, want)
	if r := f.Report; r.Format != JSON || r.DataVersion.Counter != 3 || len(r.Notes) != 1 || r.Notes[0] != "2 of the keys come from lmqOffsetTable" {
		t.Errorf("the report is %+v", r)
	}
	wantSkips(t, f, []string{`13:3: "%LMQ%fleet@%LMQ%fleet" queue 0: the offset is negative, which means that there is none`})

	path := filepath.Join(t.TempDir(), "config", "lmqConsumerOffset.json")
	var b bytes.Buffer
	if err := WriteJSON(&b, f.All(), strings.NewReader(lmqFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := ReadPath(filepath.Dir(filepath.Dir(path)), Options{Broker: "b"})
	if err != nil || again.Hash() != f.Hash() || again.Report.SkippedTotal != 1 {
		t.Errorf("over its own base it is read as %+v, %v", again, err)
	}
}
