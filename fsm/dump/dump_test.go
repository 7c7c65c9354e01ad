package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden prints the golden files of both formats, and compares the lines.
func TestGolden(t *testing.T) {
	entries, err := filepath.Glob("../entry/testdata/level1/*.entry")
	if err != nil || len(entries) < 10 {
		t.Fatalf("golden entries: %v, %v", entries, err)
	}
	for _, file := range append(entries, "../testdata/level1/state.snapshot", "../backup/testdata/version1/state.backup") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		switch filepath.Ext(file) {
		case ".entry":
			err = Entry(&out, data)
		case ".backup":
			err = Backup(&out, bytes.NewReader(data), int64(len(data)))
		default:
			err = Snapshot(&out, bytes.NewReader(data))
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
			if !json.Valid(line) {
				t.Errorf("%s: not JSON: %s", file, line)
			}
		}
		golden := filepath.Join("testdata", filepath.Base(file)+".jsonl")
		if *update {
			if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s is printed as\n%s\nwanted (%v)\n%s", file, out.Bytes(), err, want)
		}
	}
}

func golden(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestLog(t *testing.T) {
	data := golden(t, "../entry/testdata/level1/members.entry")
	var out bytes.Buffer
	if err := Log(&out, &Frame{Index: 1 << 60, Term: 3, Type: "LogCommand", Command: true, Data: data}); err != nil {
		t.Fatal(err)
	}
	want := `{"log":{"index":"1152921504606846976","term":"3","type":"LogCommand","bytes":` // exact, beyond what a float holds
	if got := out.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 5 {
		t.Errorf("printed\n%s", got)
	}
	out.Reset()
	if err := Log(&out, &Frame{Index: 1, Term: 1, Type: "LogNoop"}); err != nil || out.String() != `{"log":{"index":"1","term":"1","type":"LogNoop","bytes":0}}`+"\n" {
		t.Errorf("%v, printed\n%s", err, out.String())
	}
}

func TestDamageIsTold(t *testing.T) {
	var out bytes.Buffer
	data := golden(t, "../entry/testdata/level1/commits.entry")
	if err := Entry(&out, data[:len(data)-1]); !errors.Is(err, offset.ErrDamaged) || out.Len() != 0 {
		t.Errorf("a cut entry: %v, printed %s", err, out.String())
	}
	if err := Log(&out, &Frame{Index: 7, Type: "LogCommand", Command: true, Data: data[:9]}); !errors.Is(err, offset.ErrDamaged) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("a cut entry in a log: %v, printed %s", err, out.String())
	}
	out.Reset()
	data = golden(t, "../testdata/level1/state.snapshot")
	if err := Snapshot(&out, bytes.NewReader(data[:len(data)-1])); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("a cut snapshot: %v", err)
	}
	if got := out.String(); !strings.Contains(got, `"state"`) || strings.Contains(got, `"end"`) {
		t.Errorf("of a cut snapshot is printed\n%s", got)
	}
}

func TestWriterErrorIsPassedOn(t *testing.T) {
	full := errors.New("the disk is full")
	for name, print := range map[string]func(io.Writer) error{
		"entry": func(w io.Writer) error { return Entry(w, golden(t, "../entry/testdata/level1/commits.entry")) },
		"snapshot": func(w io.Writer) error {
			return Snapshot(w, bytes.NewReader(golden(t, "../testdata/level1/state.snapshot")))
		},
	} {
		if err := print(failing{full}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
