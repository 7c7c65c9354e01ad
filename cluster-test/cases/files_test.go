package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// Exit codes of the CLI.
const (
	badInput = 3
	refused  = 4
	partial  = 6
	notFound = 7
)

// file is the path of a fixture.
func file(name string) string { return filepath.Join(local.Root(), "offsetfile", "testdata", name) }

func key(group, topic, broker string, queue int32) offset.Key {
	return offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker, QueueID: queue}}
}

// files is a cluster to import into, and a second one for what was exported.
type files struct {
	*local.Cluster
	nodes []*ask.Node
	other *local.Cluster
}

// all is everything a cluster holds, as CSV.
func all(t *testing.T, c *local.Cluster) string {
	t.Helper()
	return c.Tidemark("export", "--format", "csv").Want(t, 0, "", "").Out
}

// emptied empties a cluster, by a replace with a broker's file without offsets.
func emptied(t *testing.T, c *local.Cluster) {
	t.Helper()
	c.Tidemark("import", file("C05.fresh.consumerOffset.json"), "--replace", "--allow-removal", "--execute").Want(t, 0, "replace done", "")
	if rows := strings.Count(all(t, c), "\n"); rows > 1 {
		t.Fatalf("%d rows are left", rows)
	}
}

// everywhere demands an offset of all nodes, at every level of reading; -1 is
// "no offset".
func (f *files) everywhere(t *testing.T, k offset.Key, value int64) {
	t.Helper()
	for _, n := range f.nodes {
		n.MustRead(t, ask.Default, k, value)
		n.MustRead(t, ask.Local, k, value) // not older than the read before
		s, _, err := n.FetchJSON(ask.Within(t, ask.Patience), ask.Default, k)
		if err != nil || ask.Value(s[0]) != value {
			t.Fatalf("%s gives curl %+v, %v for %s; want %d", n.Name, s, err, k, value)
		}
	}
}

// exported writes an export to a file, and imports it into the second cluster,
// which must then hold the same.
func (f *files) exported(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "consumerOffset.json")
	f.Tidemark(append([]string{"export", path}, args...)...).Want(t, 0, "as of index", "")
	emptied(t, f.other)
	r := f.other.Tidemark("import", path, "--execute")
	if r.Code != 0 && r.Code != partial {
		t.Fatalf("importing the export: %+v", r)
	}
	return path
}

// TestFiles is what real brokers, tools and editors left, through the CLI into
// a cluster, and out again.
func TestFiles(t *testing.T) {
	c := local.Start(t, 3)
	f := &files{Cluster: c, nodes: c.Nodes(), other: local.Start(t, 1)}
	for _, x := range []struct {
		name string
		do   func(*testing.T, *files)
	}{
		{"C01", c01}, {"C02", c02}, {"C05", c05}, {"C06", c06}, {"C09", c09}, {"C17", c17}, {"C57", c57},
	} {
		t.Run(x.name, func(t *testing.T) {
			emptied(t, c)
			x.do(t, f)
		})
	}
	ask.Same(t, f.nodes)
}

func c01(t *testing.T, f *files) {
	f.Tidemark("import", file("C01.consumerOffset.json.bak"), "--execute").Want(t, 0, "16 changed, 0 left", "")
	f.everywhere(t, key("quill-billing", "quill-orders", "", 6), 2)
	f.everywhere(t, key("quill-billing", "quill-orders", "", 0), 6)
	before := all(t, f.Cluster)

	dir := t.TempDir()
	b, err := os.ReadFile(file("C01.consumerOffset.json.bak"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "consumerOffset.json.bak"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Tidemark("import", dir, "--execute").Want(t, badInput, "", "only its older copy")

	path := f.exported(t)
	if got := all(t, f.other); got != before {
		t.Errorf("a cluster that took the export holds\n%s\nwant\n%s", got, before)
	}
	f.Tidemark("import", path, "--execute").Want(t, 0, "0 changed, 16 left", "")
}

func c02(t *testing.T, f *files) {
	f.Tidemark("import", file("C02.consumerOffset.json"), "--execute").Want(t, 0, "13 offsets of 4 entries", "").
		Want(t, 0, "dataVersion: counter 731", "")
	f.everywhere(t, key("fern-push@broadcast", "fern", "", 0), 777)
	if out := f.Tidemark("group", "list").Want(t, 0, "", "").Out; out != "fern\nfern-pull\nfern-push\nfern-push@broadcast\n" {
		t.Errorf("groups are %q", out)
	}
	for _, g := range []string{"fern-push", "fern-push@broadcast"} {
		f.Tidemark("group", "describe", g).Want(t, 0, "4 queues of 1 topic", "")
	}
	before := all(t, f.Cluster)
	if strings.Contains(before, "ghost") || strings.Contains(before, "gone") {
		t.Errorf("a derived table has become offsets: %s", before)
	}
	f.exported(t)
	if got := all(t, f.other); got != before {
		t.Errorf("the round trip gives\n%s\nwant\n%s", got, before)
	}
	f.Tidemark("group", "remove", "fern-push", "--execute").Want(t, 0, "removed 4 offsets", "")
	f.everywhere(t, key("fern-push", "fern", "", 0), -1)
	f.everywhere(t, key("fern-push@broadcast", "fern", "", 0), 777)
}

func c05(t *testing.T, f *files) {
	for q := range 3 {
		f.Tidemark("commit", "keepers", "t", string(rune('0'+q)), "5", "--execute").Want(t, 0, "-> 5", "")
	}
	fresh := file("C05.fresh.consumerOffset.json")
	for _, args := range [][]string{{"--dry-run"}, {"--execute"}} {
		f.Tidemark(append([]string{"import", fresh}, args...)...).Want(t, 0, "0 offsets of 0 entries", "")
		for name, words := range map[string]string{"braces": "no offsetTable", "zero": "0 bytes", "lookalike": `"consumedOffset"`} {
			for _, mode := range []string{"--merge", "--replace"} {
				f.Tidemark(append([]string{"import", file("C05." + name + ".consumerOffset.json"), mode}, args...)...).Want(t, badInput, "", words)
			}
		}
	}
	f.Tidemark("import", fresh, "--replace", "--dry-run").Want(t, 0, "3 REMOVED", "")
	f.Tidemark("import", fresh, "--replace", "--execute").Want(t, refused, "", "would remove 3 offsets")
	for q := range int32(3) {
		f.everywhere(t, key("keepers", "t", "", q), 5)
	}
	f.Tidemark("import", fresh, "--replace", "--execute", "--allow-removal").Want(t, 0, "replace done", "")
	f.everywhere(t, key("keepers", "t", "", 0), -1)
}

func c06(t *testing.T, f *files) {
	r := f.Tidemark("import", file("C06.consumerOffset.json"), "--execute").Want(t, partial, "9 offsets of 8 entries", "3 places were skipped")
	for _, k := range []string{"noseparator", "orders@", "@billing"} {
		if !strings.Contains(r.Out, k) {
			t.Errorf("the report does not name %q", k)
		}
	}
	if out := f.Tidemark("group", "list", "--namespace", "inst_k").Want(t, 0, "", "").Out; out != "inst_k%billing\ninst_k%drain\n" {
		t.Errorf("groups of the namespace are %q", out)
	}
	f.everywhere(t, key("inst_k%billing", "%RETRY%inst_k%billing", "", 0), 2)
	f.everywhere(t, key("billing", "%RETRY%billing+orders", "", 0), 4)
	emptied(t, f.Cluster)
	r = f.Tidemark("import", file("C06.consumerOffset.json"), "--strict-names", "--execute").Want(t, partial, "7 offsets of 6 entries", "5 places were skipped")
	for _, k := range []string{"orders.v2", "${mq.ns}"} {
		if !strings.Contains(r.Out, k) {
			t.Errorf("the strict report does not name %q", k)
		}
	}
}

func c09(t *testing.T, f *files) {
	f.Tidemark("import", file("C09.bom.consumerOffset.json"), "--execute").Want(t, 0, "2 changed", "")
	emptied(t, f.Cluster)
	f.Tidemark("import", file("C09.rocksdb-stdout.txt"), "--execute").Want(t, 0, "note: skipped line 1", "").Want(t, 0, "3 changed", "")
	emptied(t, f.Cluster)
	f.Tidemark("import", file("C09.rocksdb-json-disabled.txt"), "--execute").Want(t, badInput, "", "RocksDB tool")
	if rows := strings.Count(all(t, f.Cluster), "\n"); rows > 1 {
		t.Errorf("a refused file left %d rows", rows)
	}
}

// c17 is the part on files; TestC17 is the one on numbers through the API.
func c17(t *testing.T, f *files) {
	for name, words := range map[string]string{"": "line 7, column 19", "overflow.": "line 1, column 52", "fraction.": "line 1, column 32"} {
		f.Tidemark("import", file("C17."+name+"consumerOffset.json"), "--execute").Want(t, badInput, "", words)
	}
	f.everywhere(t, key("ok", "moss", "", 0), -1)
	if rows := strings.Count(all(t, f.Cluster), "\n"); rows > 1 {
		t.Errorf("refused files left %d rows", rows)
	}
}

func c57(t *testing.T, f *files) {
	want := ""
	for _, name := range []string{"C57.5.5.0.consumerOffset.json", "C57.4.9.7.consumerOffset.json", "C57.5.5.0.code43.body"} {
		emptied(t, f.Cluster)
		f.Tidemark("import", file(name), "--execute").Want(t, partial, "42 offsets of 8 entries", "1 place was skipped").
			Want(t, partial, "refunds@search_index", "")
		f.everywhere(t, key("search_index", "refunds", "", 0), -1)
		f.everywhere(t, key("search_index", "refunds", "", 2), 1<<63-1)
		f.everywhere(t, key("search_index", "refunds", "", 99), 5)
		f.Tidemark("get", "search_index", "refunds", "0").Want(t, notFound, "", "no offset")
		have := all(t, f.Cluster)
		if want != "" && have != want {
			t.Errorf("%s gives\n%s\nand the one before\n%s", name, have, want)
		}
		want = have
		path := f.exported(t, "--without", "pay", "--base", file(name))
		if got := all(t, f.other); got != have {
			t.Errorf("the round trip over the base gives\n%s\nwant\n%s", got, have)
		}
		if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "-1") {
			t.Errorf("the -1 of the base is gone: %v", err)
		}
	}
}
