package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/fixture"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// cases is where the files lie that real brokers, tools and editors left.
const cases = "../../offsetfile/testdata/"

func TestC01ImportedTwiceAndExported(t *testing.T) {
	f := newFake()
	f.tidemark(t, "import", cases+"C01.consumerOffset.json.bak").want(t, 0, "16 offsets of 5 entries", "is read as")
	if f.all() != "" {
		t.Fatal("showing changed something")
	}
	f.tidemark(t, "import", cases+"C01.consumerOffset.json.bak", "--execute").want(t, 0, "16 changed, 0 left", "is read as")
	f.tidemark(t, "get", "quill-billing", "quill-orders", "6", "-o", "json").want(t, 0, `"offset": "2"`, "")
	f.tidemark(t, "get", "quill-billing", "quill-orders", "0", "-o", "json").want(t, 0, `"offset": "6"`, "")
	before := f.all()

	path := filepath.Join(t.TempDir(), "consumerOffset.json")
	f.tidemark(t, "export", path).want(t, 0, "16 offsets", "")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", st.Mode(), err)
	}
	f.tidemark(t, "import", path, "--execute").want(t, 0, "0 changed, 16 left", "is read as")
	if f.all() != before {
		t.Error("the second import changed offsets")
	}
	g := newFake()
	g.tidemark(t, "import", path, "--execute").want(t, 0, "16 changed", "is read as")
	if g.all() != before {
		t.Errorf("a cluster that took the export holds\n%s\nwant\n%s", g.all(), before)
	}
}

func TestC01FolderWithOnlyTheOlderCopy(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile(cases + "C01.consumerOffset.json.bak")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "consumerOffset.json.bak"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	newFake().tidemark(t, "import", dir, "--execute").want(t, exitBadInput, "", "only its older copy")
}

func TestC02BroadcastGroupIsAGroupOfItsOwn(t *testing.T) {
	f := newFake()
	f.tidemark(t, "import", cases+"C02.consumerOffset.json", "--execute").want(t, 0, "dataVersion: counter 731", "is read as")
	f.tidemark(t, "get", "fern-push@broadcast", "fern", "0", "-o", "json").want(t, 0, `"offset": "777"`, "")
	list := f.tidemark(t, "group", "list").want(t, 0, "fern-push@broadcast", "")
	if list.out != "fern\nfern-pull\nfern-push\nfern-push@broadcast\n" {
		t.Errorf("groups are %q", list.out)
	}
	for _, g := range []string{"fern-push", "fern-push@broadcast"} {
		f.tidemark(t, "group", "describe", g).want(t, 0, "4 queues of 1 topic", "")
	}
	f.tidemark(t, "group", "remove", "fern-push", "--execute").want(t, 0, "removed 4 offsets", "")
	f.tidemark(t, "group", "describe", "fern-push").want(t, exitNotFound, "", "no offsets")
	f.tidemark(t, "group", "describe", "fern-push@broadcast").want(t, 0, "4 queues", "")
}

func TestC05FilesWithoutOffsets(t *testing.T) {
	f := newFake()
	f.set(t, 5, key("keepers", "t", "", 0), key("keepers", "t", "", 1), key("keepers", "t", "", 2))
	before := f.all()
	fresh := cases + "C05.fresh.consumerOffset.json"
	for _, args := range [][]string{{}, {"--execute"}, {"--dry-run"}} {
		f.tidemark(t, append([]string{"import", fresh}, args...)...).want(t, 0, "0 offsets of 0 entries", "is read as")
		for _, name := range []string{"braces", "zero", "lookalike"} {
			for _, mode := range []string{"--merge", "--replace"} {
				r := f.tidemark(t, append([]string{"import", cases + "C05." + name + ".consumerOffset.json", mode}, args...)...)
				r.want(t, exitBadInput, "", map[string]string{"braces": "no offsetTable", "zero": "0 bytes", "lookalike": `"consumedOffset"`}[name])
			}
		}
	}
	f.tidemark(t, "import", fresh, "--execute").want(t, 0, "nothing was sent", "is read as")
	f.tidemark(t, "import", fresh, "--replace").want(t, 0, "3 REMOVED", "is read as")
	f.tidemark(t, "import", fresh, "--replace", "--dry-run").want(t, 0, "--allow-removal", "is read as")
	f.tidemark(t, "import", fresh, "--replace", "--execute").want(t, exitRefused, "", "would remove 3 offsets")
	if f.all() != before {
		t.Fatalf("keepers lost something: %s", f.all())
	}
	f.tidemark(t, "import", fresh, "--replace", "--execute", "--allow-removal").want(t, 0, "replace done", "is read as")
	if f.all() != "" {
		t.Errorf("after the replace there is %s", f.all())
	}
}

func TestC06NamesAndNamespaces(t *testing.T) {
	f := newFake()
	r := f.tidemark(t, "import", cases+"C06.consumerOffset.json", "--execute").want(t, exitPartial, "9 offsets of 8 entries", "3 places were skipped")
	for _, key := range []string{"noseparator", "orders@", "@billing"} {
		if !strings.Contains(r.out, key) {
			t.Errorf("the report does not name %q", key)
		}
	}
	list := f.tidemark(t, "group", "list", "--namespace", "inst_k").want(t, 0, "inst_k%billing", "")
	if list.out != "inst_k%billing\ninst_k%drain\n" {
		t.Errorf("groups of the namespace are %q", list.out)
	}
	f.tidemark(t, "get", "inst_k%billing", "%RETRY%inst_k%billing", "0", "-o", "json").want(t, 0, `"offset": "2"`, "")
	f.tidemark(t, "get", "billing", "%RETRY%billing+orders", "0", "-o", "json").want(t, 0, `"offset": "4"`, "")
	newFake().tidemark(t, "import", cases+"C06.consumerOffset.json", "--strict-names", "--execute").want(t, exitPartial, "7 offsets of 6 entries", "5 places were skipped")
}

func TestC09ToolsAndEditors(t *testing.T) {
	newFake().tidemark(t, "import", cases+"C09.bom.consumerOffset.json", "--execute").want(t, 0, "2 changed", "is read as")
	newFake().tidemark(t, "import", cases+"C09.rocksdb-stdout.txt", "--execute").want(t, 0, "note: skipped line 1", "is read as")
	newFake().tidemark(t, "import", cases+"C09.rocksdb-json-disabled.txt", "--execute").want(t, exitBadInput, "", "RocksDB tool")
}

func TestC12OneFileForEachBroker(t *testing.T) {
	f := newFake()
	f.set(t, 100, key("moss-readers", "moss", "bk-north", 1))
	f.set(t, 7, key("moss-readers", "moss", "bk-south", 1))
	f.tidemark(t, "get", "moss-readers", "moss", "1", "--broker", "bk-north", "-o", "json").want(t, 0, `"offset": "100"`, "")
	both := f.tidemark(t, "get", "moss-readers", "moss", "1").want(t, 0, "bk-north", "")
	if !strings.Contains(both.out, "bk-south") {
		t.Errorf("one broker is missing in %q", both.out)
	}
	f.tidemark(t, "export").want(t, exitBadInput, "", "holds one broker's offsets")
	path := filepath.Join(t.TempDir(), "out")
	f.tidemark(t, "export", path).want(t, exitBadInput, "", `"bk-north" and "bk-south"`)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a refused export left a file")
	}
	f.tidemark(t, "export", "--broker", "bk-south").want(t, 0, `"moss@moss-readers":{"1":7}`, "1 offset, as of index")
	f.tidemark(t, "export", "--format", "csv").want(t, 0, "moss-readers,moss,bk-north,1,100\nmoss-readers,moss,bk-south,1,7\n", "2 offsets")
}

func TestC17NumbersThatAreNoOffsets(t *testing.T) {
	f := newFake()
	for name, words := range map[string]string{"": "line 7, column 19", "overflow.": "line 1, column 52", "fraction.": "line 1, column 32"} {
		f.tidemark(t, "import", cases+"C17."+name+"consumerOffset.json", "--execute").want(t, exitBadInput, "", words)
	}
	if f.all() != "" || len(f.acts) > 0 {
		t.Errorf("a refused file changed something: %s", f.all())
	}
	f.tidemark(t, "commit", "--execute", "g", "t", "0", "9223372036854775807").want(t, 0, "no offset -> 9223372036854775807", "")
	f.tidemark(t, "get", "g", "t", "0", "-o", "json").want(t, 0, `"9223372036854775807"`, "")
	for _, args := range [][]string{{"0", "-1"}, {"0", "-898232391123"}, {"-1", "5"}, {"0", "9223372036854775808"}, {"0", "1.5"}, {"2147483648", "1"}} {
		f.tidemark(t, append([]string{"commit", "--execute", "--", "g", "t"}, args...)...).want(t, exitBadInput, "", "invalid request")
	}
}

func TestC57RealBrokersFiles(t *testing.T) {
	for _, name := range []string{"C57.5.5.0.consumerOffset.json", "C57.4.9.7.consumerOffset.json", "C57.5.5.0.code43.body"} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.tidemark(t, "import", cases+name, "--execute").want(t, exitPartial, "42 offsets of 8 entries", "1 place was skipped")
			f.tidemark(t, "get", "search_index", "refunds", "0").want(t, exitNotFound, "", "no offset")
			f.tidemark(t, "get", "search_index", "refunds", "2", "-o", "json").want(t, 0, `"9223372036854775807"`, "")
			f.tidemark(t, "get", "search_index", "refunds", "99", "-o", "json").want(t, 0, `"offset": "5"`, "")
			path := filepath.Join(t.TempDir(), "consumerOffset.json")
			f.tidemark(t, "export", path, "--without", "pay", "--base", cases+name).want(t, 0, "25 offsets", "")
			again, err := offsetfile.ReadPath(path, offsetfile.Options{})
			if err != nil || again.Report.Offsets != 42 || again.Report.SkippedTotal != 1 {
				t.Errorf("over the base there is %+v, %v", again.Report, err)
			}
			g := newFake()
			g.tidemark(t, "import", path, "--execute").want(t, exitPartial, "42 changed", "1 place")
			if g.all() != f.all() {
				t.Errorf("elsewhere there is\n%s\nwant\n%s", g.all(), f.all())
			}
		})
	}
}

func TestImportMergeKeepsTheLarger(t *testing.T) {
	f := newFake()
	f.set(t, 50, key("g", "t", "b", 0), key("g", "t", "b", 1), key("h", "t", "b", 0))
	path := filepath.Join(t.TempDir(), "f.json")
	write(t, path, `{"offsetTable":{"t@g":{0:40,1:60,2:1}}}`)
	f.tidemark(t, "import", path, "--broker", "b").want(t, 0, "1 new, 1 raised, 0 the same\n1 are higher", "is read as")
	f.tidemark(t, "import", path, "--broker", "b", "--execute").want(t, 0, "2 changed, 1 left", "is read as")
	if got := f.all(); got != "g/t/b/0=50\ng/t/b/1=60\ng/t/b/2=1\nh/t/b/0=50\n" {
		t.Errorf("there is %s", got)
	}
	f.tidemark(t, "import", path, "--broker", "b", "--replace", "--group", "g", "--execute").want(t, 0, "1 lowered, 0 REMOVED", "is read as")
	if got := f.all(); got != "g/t/b/0=40\ng/t/b/1=60\ng/t/b/2=1\nh/t/b/0=50\n" {
		t.Errorf("after the replace of a group there is %s", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// largeFile makes a file of several chunks.
func largeFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.json")
	f, err := os.Create(path)
	if err == nil {
		err = fixture.Large(f, 12_000)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestImportStopsAndGoesOn(t *testing.T) {
	for _, mode := range []string{"--merge", "--replace"} {
		t.Run(mode, func(t *testing.T) {
			path := largeFile(t)
			whole := newFake()
			whole.tidemark(t, "import", path, mode, "--execute").want(t, 0, mode[2:]+" done", "is read as")

			f := newFake()
			ctx, cancel := context.WithCancel(t.Context())
			f.step = func(i *offset.Import) error {
				if i.Step == offset.ImportChunk && i.Chunk == 2 {
					cancel()
					return ctx.Err()
				}
				return nil
			}
			f.tidemarkCtx(ctx, "import", path, mode, "--execute").want(t, exitPartial, "", "run the same command again")
			f.step = nil
			other := filepath.Join(t.TempDir(), "other.json")
			write(t, other, `{"offsetTable":{"t@g":{0:1}}}`)
			f.tidemark(t, "import", other, "--execute").want(t, exitRefused, "", "--abort")
			f.tidemark(t, "import", path, mode, "--broker", "x", "--execute").want(t, exitRefused, "", "--abort") // as many chunks, of other keys
			f.tidemark(t, "cluster", "status").want(t, 0, "under way: chunk 2 of", "")
			r := f.tidemark(t, "import", path, mode, "--execute").want(t, 0, mode[2:]+" done", "at chunk 2 of")
			if !strings.Contains(r.out, "48000 changed, 0 left") {
				t.Errorf("report is %q", r.out)
			}
			if f.all() != whole.all() {
				t.Error("a resumed import ends in another state than a whole one")
			}
		})
	}
}

func TestImportAbort(t *testing.T) {
	f := newFake()
	f.tidemark(t, "import", "--abort").want(t, exitNotFound, "", "nothing to abort")
	f.step = func(i *offset.Import) error {
		if i.Step == offset.ImportChunk && i.Chunk == 1 {
			return offset.Errorf(offset.ErrNoLeader, "gone")
		}
		return nil
	}
	f.tidemark(t, "import", largeFile(t), "--replace", "--execute").want(t, exitNoLeader, "", "nothing of it is visible yet")
	f.alter = func(_ string, st *offset.Status) { // as who has no right on all of it is told
		st.Import = &offset.ImportStatus{Mode: offset.ImportReplace, Next: 1, Chunks: 9}
	}
	f.tidemark(t, "import", "--abort", "--execute").want(t, exitRefused, "", "by those alone")
	f.tidemark(t, "import", largeFile(t), "--replace", "--execute").want(t, exitRefused, "", "those alone go on")
	f.tidemark(t, "cluster", "status").want(t, 0, "id not told", "")
	f.alter = nil
	f.tidemark(t, "import", "--abort").want(t, 0, "would be dropped", "")
	f.tidemark(t, "import", "--abort", "--execute").want(t, 0, "is dropped", "")
	f.tidemark(t, "import", "--abort", "--execute").want(t, exitNotFound, "", "nothing to abort")
	f.tidemark(t, "import", "x", "--abort").want(t, exitUsage, "", "takes no file")
	if f.all() != "" {
		t.Error("an aborted replace left offsets")
	}
}

func TestImportResultInJSON(t *testing.T) {
	f := newFake()
	r := f.tidemark(t, "import", cases+"C57.5.5.0.consumerOffset.json", "--execute", "-o", "json")
	var got struct {
		Executed                       bool
		Changed                        int `json:"changed,string"`
		Entries, Offsets, SkippedTotal int
		Files                          []struct {
			File, Broker string
			Report       struct {
				Format                         string
				Entries, Offsets, SkippedTotal int
				DataVersion                    struct{ Timestamp int64 }
				Skipped                        []offsetfile.Skip
			}
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v in %s", err, r.out)
	}
	if !got.Executed || got.Changed != 42 || got.Entries != 8 || got.Offsets != 42 || got.SkippedTotal != 1 || len(got.Files) != 1 {
		t.Fatalf("result is %+v", got)
	}
	rep := got.Files[0].Report
	if rep.Format != "json" || rep.Entries != 8 || rep.Offsets != 42 || rep.DataVersion.Timestamp != 1795970284465 {
		t.Errorf("report is %+v", rep)
	}
	if s := rep.Skipped; len(s) != 1 || s[0].Line != 54 || *s[0].Value != -1 || s[0].Key != "refunds@search_index" {
		t.Errorf("skipped is %+v", s)
	}
}

func TestChunksKeepTheirBounds(t *testing.T) {
	long := strings.Repeat("n", offset.MaxName)
	f := &offsetfile.File{}
	for i := range 3000 {
		f.Entries = append(f.Entries, offsetfile.Entry{Group: long, Topic: long, Broker: string(rune('a' + i%26)), Queues: []offsetfile.Queue{{ID: 1 << 30, Offset: 1 << 62}}})
	}
	f.Entries = append(f.Entries,
		offsetfile.Entry{Group: long, Topic: long, Broker: long, Queues: make([]offsetfile.Queue, 9_000)}, // names once in the log, with each key in the message
		offsetfile.Entry{Group: "g", Topic: "t", Queues: make([]offsetfile.Queue, 25_000)})
	c := cut(f)
	n := 0
	for i := range c.count() {
		list := c.targets(i)
		if len(list) == 0 || len(list) > offset.MaxCommits {
			t.Fatalf("chunk %d has %d offsets", i, len(list))
		}
		n += len(list)
		if size := sizeOf(list); size > offset.MaxMessage {
			t.Errorf("chunk %d takes %d bytes", i, size)
		}
	}
	if n != 37_000 {
		t.Errorf("%d offsets in all chunks", n)
	}
	if empty := cut(&offsetfile.File{}); empty.count() != 0 {
		t.Errorf("nothing is %d chunks", empty.count())
	}
}

// A chunk of a file of many small groups is bounded by what these cost the
// table: a chunk of 10,000 new groups took an Apply above 50 ms.
func TestAChunkBringsFewNewGroups(t *testing.T) {
	f := &offsetfile.File{}
	for i := range 30_000 {
		f.Entries = append(f.Entries, offsetfile.Entry{Group: strconv.Itoa(i), Topic: "t", Queues: make([]offsetfile.Queue, 1+i/10_000)})
	}
	c := cut(f)
	total := 0
	for i := range c.count() {
		list := c.targets(i)
		groups := 1
		for j := range list[1:] {
			if list[j].Key.Group != list[j+1].Key.Group {
				groups++
			}
		}
		if cost := len(list) + groups*(entryCost-1); cost > offset.MaxCommits || groups > 1250 {
			t.Errorf("chunk %d brings %d groups and %d offsets", i, groups, len(list))
		}
		total += len(list)
	}
	if total != 60_000 || c.count() != 28 {
		t.Errorf("%d chunks have %d offsets; want 28 of 60000", c.count(), total)
	}
}

// sizeOf is an upper bound of what the targets take in a message.
func sizeOf(list []offset.Target) (n int) {
	for _, x := range list {
		n += len(x.Key.Group) + len(x.Key.Topic) + len(x.Key.Broker) + 40
	}
	return n
}

func TestImportRefusals(t *testing.T) {
	f := newFake()
	csv := filepath.Join(t.TempDir(), "f.csv")
	write(t, csv, "group,topic,broker,queue,offset\ng,t,b,0,5\n")
	f.tidemark(t, "import", csv, "--broker", "x").want(t, exitBadInput, "", "leave --broker out")
	f.tidemark(t, "import", csv, "--execute").want(t, 0, "1 changed", "is read as")
	f.tidemark(t, "import").want(t, exitUsage, "", "expected a file")
	f.tidemark(t, "import", csv, "--merge", "--replace").want(t, exitUsage, "", "--merge")
	f.tidemark(t, "import", filepath.Join(t.TempDir(), "none")).want(t, exitBadInput, "", "no such file")
	f.down = offset.Errorf(offset.ErrUnreachable, "refused")
	f.tidemark(t, "import", csv).want(t, exitUnreachable, "", "--endpoints")
	f.down = errors.New("something else")
	f.tidemark(t, "import", csv, "--execute").want(t, exitFailed, "", "something else")
}
