package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/served"
)

// TestExportOfNothingReplacesNothing: a mistaken name is no empty table.
func TestExportOfNothingReplacesNothing(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("g", "t", "b", 0))
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "fresh")
	write(t, old, "old")
	for want, args := range map[string][]string{
		`--broker "nosuch"`:          {"--broker", "nosuch"},
		`--broker ""`:                {"--broker", ""},
		`--group "h" --topic "t"`:    {"--group", "h", "--topic", "t"},
		`--topic "u"`:                {"--topic", "u", "--format", "csv"},
		`--without "g"`:              {"--without", "g"},
		`no offset with --group "x"`: {"--group", "x", "--base", cases + "C05.fresh.consumerOffset.json"},
	} {
		for _, file := range []string{old, fresh, "-"} {
			f.tidemark(t, append([]string{"export", file}, args...)...).want(t, exitNotFound, "", want)
		}
	}
	newFake().tidemark(t, "export", old).want(t, exitRefused, "", "is not replaced by an empty table")
	if b, err := os.ReadFile(old); err != nil || string(b) != "old" {
		t.Errorf("the file is %q, %v", b, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
	newFake().tidemark(t, "export", fresh).want(t, 0, "0 offsets, as of index 1\n", "")
	newFake().tidemark(t, "export", filepath.Join(dir, "based"), "--base", fresh).want(t, 0, "0 offsets", "")
}

// TestEmptyExportHasTheIndexOfItsRead also where the pages come by a network.
func TestEmptyExportHasTheIndexOfItsRead(t *testing.T) {
	r := &real{Cluster: served.Start(t, 1)}
	r.tidemark(t, "commit", "g", "t", "0", "1", "--execute").want(t, 0, "-> 1", "")
	r.tidemark(t, "group", "remove", "g", "--execute").want(t, 0, "removed 1 offset", "")
	applied := r.status(t).Index
	out := r.tidemark(t, "export", "-o", "json", filepath.Join(t.TempDir(), "out")).want(t, 0, `"offsets": "0"`, "")
	var got exportResult
	if err := json.Unmarshal([]byte(out.out), &got); err != nil || applied < 2 || got.Index < applied {
		t.Errorf("the export is as of index %d, and %d was applied before; %v", got.Index, applied, err)
	}
}

// TestExportWithout leaves out a group whose name has a comma, and no other.
func TestExportWithout(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("a", "t", "", 0), key("a,b", "t", "", 0), key("b", "t", "", 0))
	r := f.tidemark(t, "export", "--format", "csv", "--without", "a,b").want(t, 0, "\na,t,", "2 offsets")
	r.want(t, 0, "\nb,t,", "2 offsets")
}

// TestExportEachBroker: what is written for each broker comes back as it was.
func TestExportEachBroker(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("g", "t", "broker-a", 0), key("g", "t", "broker b", 0), key("h", "t", "broker b", 1))
	dir := filepath.Join(t.TempDir(), "brokers")
	r := f.tidemark(t, "export", dir, "--each-broker").want(t, 0, filepath.Join("broker b", "consumerOffset.json")+": 2 offsets", "")
	r.want(t, 0, filepath.Join("broker-a", "consumerOffset.json")+": 1 offset,", "")
	g := newFake()
	g.tidemark(t, "import", dir, "--execute").want(t, 0, "3 changed", `of broker "broker b"`)
	if g.all() != f.all() {
		t.Errorf("there is\n%s\nwant\n%s", g.all(), f.all())
	}
	f.tidemark(t, "export", dir, "--each-broker").want(t, 0, "broker-a", "")
	f.tidemark(t, "export", dir, "--each-broker", "--group", "none").want(t, exitNotFound, "", `--group "none"`)
	for _, args := range [][]string{{}, {dir, "--format", "csv"}, {dir, "--broker", "b"}, {dir, "--base", "x"}} {
		f.tidemark(t, append([]string{"export", "--each-broker"}, args...)...).want(t, exitUsage, "", "--each-broker")
	}
	for _, name := range []string{"", "..", ".x", "a/b", `a\b`, "config", "c:"} {
		h := newFake()
		h.set(t, 1, key("g", "t", name, 0))
		h.tidemark(t, "export", filepath.Join(dir, "none"), "--each-broker").want(t, exitBadInput, "", "folder")
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("a refused export left %v", err)
	}
}

// TestExportEachBrokerLeavesNoOlderFile: an import of the folder would bring back
// what it holds of brokers that are gone.
func TestExportEachBrokerLeavesNoOlderFile(t *testing.T) {
	for _, older := range []string{"gone/consumerOffset.json", "gone/store/config/consumerOffset.json", "gone/lmqConsumerOffset.json", "config/consumerOffset.json", "b/config/consumerOffset.json"} {
		f := newFake()
		f.set(t, 5, key("g", "t", "b", 0))
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(older))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, `{"offsetTable":{"t@g":{"0":7}}}`)
		f.tidemark(t, "export", dir, "--each-broker").want(t, exitRefused, "", path+" is there")
		if _, err := os.Stat(filepath.Join(dir, "b", "consumerOffset.json")); !os.IsNotExist(err) {
			t.Errorf("with %s there, a refused export left %v", older, err)
		}
	}
}
