package offsetfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// tree makes files, given with their content, in a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(p), 0o700)
		if err == nil && !strings.HasSuffix(name, "/") {
			err = os.WriteFile(p, []byte(text), 0o600)
		}
		if err == nil && strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	aBroker   = `{"offsetTable":{"t@g":{0:5}}}`
	aConsumer = `{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:5}}`
)

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		in    string
		want  []Source
	}{
		"a broker's config folder":  {map[string]string{"consumerOffset.json": aBroker}, "", []Source{{Path: "consumerOffset.json"}}},
		"a broker's store":          {map[string]string{"config/consumerOffset.json": aBroker, "commitlog/": ""}, "", []Source{{Path: "config/consumerOffset.json"}}},
		"a broker's home":           {map[string]string{"store/config/consumerOffset.json": aBroker}, "", []Source{{Path: "store/config/consumerOffset.json"}}},
		"a broker with enableLmq":   {map[string]string{"config/lmqConsumerOffset.json": aBroker}, "", []Source{{Path: "config/lmqConsumerOffset.json"}}},
		"a broker beside a RocksDB": {map[string]string{"config/consumerOffset.json": aBroker, "config/rdb/": ""}, "", []Source{{Path: "config/consumerOffset.json", Note: "beside it is rdb: a broker that keeps its offsets in RocksDB does not write this file any more, which may be old"}}},
		"several brokers": {map[string]string{"broker-b/config/consumerOffset.json": aBroker, "broker-a/consumerOffset.json": aBroker, ".hidden/consumerOffset.json": aBroker, "notes.txt": ""}, "",
			[]Source{{Path: "broker-a/consumerOffset.json", Broker: "broker-a"}, {Path: "broker-b/config/consumerOffset.json", Broker: "broker-b"}}},
		"a tree of the Java client": {map[string]string{"10.0.0.1@DEFAULT/g/offsets.json": aConsumer, "10.0.0.1@DEFAULT/h/offsets.json": aConsumer, "10.0.0.1@DEFAULT/h/offsets.json.bak": ""}, "",
			[]Source{{Path: "10.0.0.1@DEFAULT/g/offsets.json", Group: "g"}, {Path: "10.0.0.1@DEFAULT/h/offsets.json", Group: "h"}}},
		"a client of it":          {map[string]string{"g/offsets.json": aConsumer}, "", []Source{{Path: "g/offsets.json", Group: "g"}}},
		"a group of it":           {map[string]string{"c/g/offsets.json": aConsumer}, "c/g", []Source{{Path: "c/g/offsets.json", Group: "g"}}},
		"a tree of the Go client": {map[string]string{"g/10.0.0.1@7/offset.json": aConsumer}, "", []Source{{Path: "g/10.0.0.1@7/offset.json", Group: "g"}}},
		"a client of that":        {map[string]string{"g/c/offset.json": aConsumer}, "g/c", []Source{{Path: "g/c/offset.json", Group: "g"}}},
		"a file":                  {map[string]string{"x": aConsumer}, "x", []Source{{Path: "x"}}},
	} {
		dir := tree(t, c.files)
		got, err := Find(filepath.Join(dir, c.in))
		for i := range got {
			rel, e := filepath.Rel(dir, got[i].Path)
			if e != nil {
				t.Fatal(e)
			}
			got[i].Path = filepath.ToSlash(rel)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: found %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// TestFindRefuses: where only the .bak is left (C01), nobody is told that there
// are no offsets, and nobody gets old ones without a word.
func TestFindRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		words string
	}{
		"C01, only the .bak":                {map[string]string{"consumerOffset.json.bak": aBroker}, "only its older copy"},
		"only the .bak of LMQ":              {map[string]string{"config/lmqConsumerOffset.json.bak": aBroker}, "only its older copy"},
		"only the .bak of one of two":       {map[string]string{"a/consumerOffset.json": aBroker, "b/config/consumerOffset.json.bak": aBroker}, "only its older copy"},
		"only the .bak of a consumer":       {map[string]string{"c/g/offsets.json.bak": aConsumer}, "only its older copy"},
		"a broker's two files":              {map[string]string{"consumerOffset.json": aBroker, "lmqConsumerOffset.json": aBroker}, "enableLmq=true"},
		"the files of two clients in one":   {map[string]string{"g/offset.json": aConsumer, "g/offsets.json": aConsumer}, "the Go client's"},
		"brokers and broadcasting":          {map[string]string{"a/consumerOffset.json": aBroker, "c/g/offsets.json": aConsumer}, "one after the other"},
		"a broker with RocksDB":             {map[string]string{"config/consumerOffsets/": ""}, "RocksDB"},
		"nothing":                           {map[string]string{"x/y": ""}, "holds no consumerOffset.json"},
		"a broker's two, .bak of the other": {map[string]string{"consumerOffset.json": aBroker, "lmqConsumerOffset.json.bak": aBroker}, "lmqConsumerOffset.json"},
	} {
		got, err := Find(tree(t, c.files))
		if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: found %+v, %v; want an error with %q", name, got, err, c.words)
		}
	}
	if _, err := Find(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing there gives %v", err)
	}
}

func TestReadPathOfSeveral(t *testing.T) {
	dir := tree(t, map[string]string{"a/consumerOffset.json": aBroker, "b/consumerOffset.json": aBroker})
	if _, err := ReadPath(dir, Options{}); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "2 files") {
		t.Errorf("error is %v", err)
	}
	f, err := ReadPath(filepath.Join(dir, "a"), Options{})
	if err != nil || f.Entries[0].Broker != "" {
		t.Errorf("one of them gives %+v, %v; its folder is no broker name there", f, err)
	}
}

func TestJoin(t *testing.T) {
	read := func(name, in string, o Options) Part {
		f, err := Read(strings.NewReader(in), o)
		if err != nil {
			t.Fatal(err)
		}
		return Part{name, f}
	}
	a, b := read("fa", aBroker, Options{Broker: "a"}), read("fb", aBroker, Options{Broker: "b"})
	f, err := Join([]Part{b, a})
	if err != nil || f.Report.Entries != 2 || f.Report.Offsets != 2 || f.Entries[0].Broker != "a" {
		t.Errorf("got %+v, %v", f, err)
	}
	if one, err := Join([]Part{a}); err != nil || one != a.File {
		t.Errorf("of one there is %+v, %v", one, err)
	}
	_, err = Join([]Part{a, b, read("fc", aConsumer, Options{Group: "g"})})
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "is in fb and in fc") {
		t.Errorf("twins give %v", err)
	}
}
