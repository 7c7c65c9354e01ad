package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes files, given with their content, in a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, p, text)
	}
	return dir
}

const brokersBoth = "g/t/broker-a/0=5\ng/t/broker-b/0=7\n"

// TestImportOfSeveralBrokers: which broker a file is of says its folder, or the command line.
func TestImportOfSeveralBrokers(t *testing.T) {
	dir := folder(t, map[string]string{
		"broker-a/store/config/consumerOffset.json": `{"offsetTable":{"t@g":{0:5}}}`,
		"broker-b/config/consumerOffset.json":       `{"offsetTable":{"t@g":{0:7}}}`,
	})
	f := newFake()
	r := f.tidemark(t, "import", dir).want(t, 0, "together: 2 offsets of 2 entries", `is read as json, of broker "broker-a" (--format overrules)`)
	r.want(t, 0, "2 new, 0 raised", `of broker "broker-b"`)
	if f.all() != "" {
		t.Fatal("showing changed something")
	}
	f.tidemark(t, "import", dir, "--execute").want(t, 0, "2 changed, 0 left", "broker-b")
	if f.all() != brokersBoth {
		t.Errorf("there is\n%s", f.all())
	}
	a, b := filepath.Join(dir, "broker-a"), filepath.Join(dir, "broker-b", "config", "consumerOffset.json")
	g := newFake()
	g.tidemark(t, "import", "broker-a="+a, "broker-b="+b, "--execute").want(t, 0, "2 changed, 0 left", "broker-b")
	if g.all() != brokersBoth {
		t.Errorf("there is\n%s", g.all())
	}
	g.tidemark(t, "import", a, b, "--execute").want(t, exitBadInput, "", "one after the other")
	g.tidemark(t, "import", a, b, "--broker", "x", "--execute").want(t, exitBadInput, "", "BROKER=FILE")
	g.tidemark(t, "import", "x="+dir, "--execute").want(t, exitBadInput, "", "holds 2 files")
	g.tidemark(t, "import", dir, "--group", "none").want(t, exitNotFound, "", "nothing of group none, but 2 entries")
	if g.all() != brokersBoth {
		t.Errorf("refused imports left\n%s", g.all())
	}
	equals := filepath.Join(dir, "x=y.json")
	write(t, equals, `{"offsetTable":{"t@h":{0:1}}}`)
	g.tidemark(t, "import", equals, "--execute").want(t, 0, "1 changed", "without a broker name")
}

// TestImportOfATreeOfConsumers: ~/.rocketmq_offsets has a folder a client, and
// in it one a group. Two clients of one group are not made one.
func TestImportOfATreeOfConsumers(t *testing.T) {
	const file = `{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:5}}`
	dir := folder(t, map[string]string{"10.0.0.1@DEFAULT/g/offsets.json": file, "10.0.0.1@DEFAULT/h/offsets.json": file, "10.0.0.2@DEFAULT/h/offsets.json": file})
	f := newFake()
	f.tidemark(t, "import", dir, "--execute").want(t, exitBadInput, "", `group "h"`)
	f.tidemark(t, "import", dir, "--group", "none").want(t, exitNotFound, "", "none of the 3 files")
	f.tidemark(t, "import", dir, "--group", "g", "--execute").want(t, 0, "1 changed", `of group "g" by its folder`)
	f.tidemark(t, "import", filepath.Join(dir, "10.0.0.2@DEFAULT"), "--group", "h-2", "--execute").want(t, 0, "1 changed", "is read as local")
	if want := "g/t/b/0=5\nh-2/t/b/0=5\n"; f.all() != want {
		t.Errorf("there is\n%s\nwant\n%s", f.all(), want)
	}
}

// TestKafkaInAndOut: what kafka-consumer-groups.sh exports, of many groups and of one.
func TestKafkaInAndOut(t *testing.T) {
	dir := folder(t, map[string]string{"many.csv": "g,t,0,5\nh,t,1,6\n", "one.csv": "t,0,9\n"})
	f := newFake()
	f.tidemark(t, "import", filepath.Join(dir, "many.csv"), "--execute").want(t, 0, "2 changed", "read as kafka, without a broker name")
	f.tidemark(t, "import", filepath.Join(dir, "one.csv"), "--execute").want(t, exitBadInput, "", "--group")
	f.tidemark(t, "import", filepath.Join(dir, "one.csv"), "--group", "i", "--execute").want(t, 0, "1 changed", "read as kafka-group")
	f.tidemark(t, "import", filepath.Join(dir, "one.csv"), "--format", "kafka").want(t, exitBadInput, "", "3 fields; a line has 4")
	f.tidemark(t, "export", "--format", "kafka").want(t, 0, "g,t,0,5\nh,t,1,6\ni,t,0,9\n", "3 offsets")
	f.set(t, 1, key("g", "t", "b", 0))
	f.tidemark(t, "export", "--format", "kafka").want(t, exitBadInput, "", "names no brokers")
	f.tidemark(t, "export", "--format", "kafka", "--broker", "b").want(t, 0, "g,t,0,1\n", "1 offset")
}

// TestNativeInAndOut: a file that is cut off changes nothing, where plain CSV
// would be taken and a replace remove the rest.
func TestNativeInAndOut(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "b", 0), key("%RETRY%g", "a@b", "", 1), key("#x", "t,u", "c", 2))
	before, path := f.all(), filepath.Join(t.TempDir(), "offsets.native")
	f.tidemark(t, "export", path, "--format", "native").want(t, 0, "3 offsets, as of index", "")
	text := readFile(t, path)
	if !strings.HasPrefix(text, "# tidemark-offsets 1 cluster="+fakeID.String()+" index=4 written=") {
		t.Errorf("the file is\n%s", text)
	}
	g := newFake()
	cut := filepath.Join(t.TempDir(), "cut")
	write(t, cut, text[:strings.Index(text, "# end")])
	g.tidemark(t, "import", cut, "--replace", "--execute").want(t, exitBadInput, "", "cut off")
	if len(g.acts) > 0 {
		t.Error("a file that is cut off was sent")
	}
	g.tidemark(t, "import", path, "--replace", "--execute").want(t, 0, "note: the file is whole", "is read as native (--format overrules)")
	if g.all() != before {
		t.Errorf("there is\n%s\nwant\n%s", g.all(), before)
	}
	g.tidemark(t, "import", path, "--broker", "x").want(t, exitBadInput, "", "leave --broker out")
}

// TestLocalAndLMQOut: what a broadcasting consumer and a broker with LMQ read.
func TestLocalAndLMQOut(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "b", 0), key("g", "t", "c", 0), key("%LMQ%h", "%LMQ%t", "b", 0))
	dir := t.TempDir()
	f.tidemark(t, "export", "--format", "local").want(t, exitUsage, "", "--group")
	f.tidemark(t, "export", filepath.Join(dir, "offsets.json"), "--format", "local", "--group", "g").want(t, 0, "2 offsets", "")
	f.tidemark(t, "export", filepath.Join(dir, "lmqConsumerOffset.json"), "--broker", "b").want(t, 0, "2 offsets", "enableLmq=true")
	g := newFake()
	g.tidemark(t, "import", filepath.Join(dir, "offsets.json"), "--group", "g", "--execute").want(t, 0, "2 changed", "local")
	g.tidemark(t, "import", filepath.Join(dir, "lmqConsumerOffset.json"), "--broker", "b", "--execute").want(t, 0, "1 changed, 1 left", "json")
	if g.all() != f.all() {
		t.Errorf("there is\n%s\nwant\n%s", g.all(), f.all())
	}
}
