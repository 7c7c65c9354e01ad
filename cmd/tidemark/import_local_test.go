package main

import (
	"path/filepath"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestC03LocalFilesOfABroadcastingConsumer: two brokers' queue 1 stay two, in
// each shape that a client writes.
func TestC03LocalFilesOfABroadcastingConsumer(t *testing.T) {
	const north, south = "moss-readers/moss/bk-north/1=250\n", "moss-readers/moss/bk-south/1=17\n"
	for name, want := range map[string]string{
		"java-pretty.offsets.json": north + south, "java-compact.offsets.json": north + south,
		"go.offset.json": north + south, "string-values.offsets.json": north,
	} {
		f := newFake()
		file := cases + "C03." + name
		f.tidemark(t, "import", file, "--execute").want(t, exitBadInput, "", "name the group (--group)")
		f.tidemark(t, "import", file, "--group", "moss-readers", "--broker", "b", "--execute").want(t, exitBadInput, "", "leave --broker out")
		f.tidemark(t, "import", file, "--group", "a\nb", "--execute").want(t, exitBadInput, "", "control character")
		if f.all() != "" || len(f.acts) > 0 {
			t.Errorf("%s: a refused import left %s", name, f.all())
		}
		f.tidemark(t, "import", file, "--group", "moss-readers").want(t, 0, `as those of group "moss-readers"`, "is read as")
		f.tidemark(t, "import", file, "--group", "moss-readers", "--execute").want(t, 0, "merge done", "is read as")
		if f.all() != want {
			t.Errorf("%s: there is\n%s\nwant\n%s", name, f.all(), want)
		}
	}
}

func TestLocalFileReplacesItsGroupAlone(t *testing.T) {
	f := newFake()
	f.set(t, 900, key("moss-readers", "moss", "bk-north", 1), key("other", "moss", "bk-north", 1))
	f.tidemark(t, "import", cases+"C03.go.offset.json", "--group", "moss-readers", "--replace", "--execute").want(t, 0, "replace done", "is read as")
	if want := "moss-readers/moss/bk-north/1=250\nmoss-readers/moss/bk-south/1=17\nother/moss/bk-north/1=900\n"; f.all() != want {
		t.Errorf("there is\n%s\nwant\n%s", f.all(), want)
	}
	path := filepath.Join(t.TempDir(), "offsets.json")
	write(t, path, `{"offsetTable":{{"topic":"t","brokerName":"b","queueId":0}:5,{"topic":"t","brokerName":"b","queueId":1}:-1}}`)
	f.tidemark(t, "import", path, "--group", "g", "--execute").want(t, exitPartial, `skipped: "t@g" queue 1`, "1 place was skipped")
}

func TestC04UnreadableLocalFilesChangeNothing(t *testing.T) {
	f := newFake()
	f.set(t, 7, key("moss-readers", "moss", "bk-north", 1))
	before, root := f.all(), f.table.Root().Digest()
	for name, words := range map[string]string{"C04.offsets.json": "first byte 0x00", "C04.offsets.json.bak": "first byte 0xd7"} {
		for _, args := range [][]string{{}, {"--group", "moss-readers"}, {"--group", "moss-readers", "--replace", "--allow-removal"}} {
			r := f.tidemark(t, append([]string{"import", cases + name, "--execute", "-o", "json"}, args...)...)
			r.want(t, exitBadInput, "", words)
		}
	}
	if f.all() != before || f.table.Root().Digest() != root || f.table.Root().Import() != (*offset.ImportStatus)(nil) || len(f.acts) > 0 {
		t.Errorf("a refused file changed something: %s", f.all())
	}
}

// TestC36EmptyFileBesideItsOlderCopy: the older copy is not taken without a
// word, and given by its path it is.
func TestC36EmptyFileBesideItsOlderCopy(t *testing.T) {
	f := newFake()
	dir := folder(t, map[string]string{"g/offsets.json": readFile(t, cases+"C36.offsets.json"), "g/offsets.json.bak": readFile(t, cases+"C36.offsets.json.bak")})
	f.tidemark(t, "import", dir, "--execute").want(t, exitBadInput, "", "0 bytes")
	f.tidemark(t, "import", filepath.Join(dir, "g", "offsets.json"), "--group", "g", "--execute").want(t, exitBadInput, "", "Look for its .bak")
	if f.all() != "" || len(f.acts) > 0 {
		t.Fatalf("an empty file left %s", f.all())
	}
	f.tidemark(t, "import", filepath.Join(dir, "g", "offsets.json.bak"), "--group", "g", "--execute").want(t, 0, "merge done", "is read as local")
	if f.all() != "g/moss/bk-north/0=500\n" {
		t.Errorf("there is\n%s", f.all())
	}
}
