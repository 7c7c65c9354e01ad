package offsetfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// FuzzRead feeds any bytes to the reader: it never panics, refuses with a
// place inside the file, and what it takes survives writing and reading in
// both formats.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/C*")
	if err != nil || len(files) == 0 {
		f.Fatal("no fixtures")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(csvHead + "\n\"a,\"\"\",t,b,0,1\n"))
	f.Add([]byte(`{"lmqOffsetTable":{"%LMQ%a@%LMQ%b":7},"offsetTable":{"\u0074@g":{"0":"7",},},}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		file, err := Read(bytes.NewReader(in), Options{})
		if err != nil {
			checkFault(t, err, in)
			return
		}
		checkFile(t, file, in)
	})
}

func checkFault(t *testing.T, err error, in []byte) {
	var fa *Fault
	if !errors.As(err, &fa) || fa.Byte < 0 || fa.Byte > int64(len(in)) || fa.Line < 1 || fa.Column < 1 {
		t.Fatalf("error is %v", err)
	}
	if strings.ContainsAny(err.Error(), "\n\r\x00") {
		t.Fatalf("the error holds raw bytes of the file: %q", err)
	}
}

func checkFile(t *testing.T, file *File, in []byte) {
	all := slices.Collect(file.All())
	for i, x := range all {
		if x.Key.Validate() != nil || x.Offset < 0 || i > 0 && all[i-1].Key.Compare(x.Key) >= 0 {
			t.Fatalf("%v is not valid or not in order", x)
		}
	}
	if len(all) != file.Report.Offsets || len(all) > len(in) {
		t.Fatalf("%d offsets of %d bytes, the report says %d", len(all), len(in), file.Report.Offsets)
	}
	var c bytes.Buffer
	if err := WriteCSV(&c, slices.Values(all)); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(&c, Options{}); err != nil || again.Hash() != file.Hash() {
		t.Fatalf("CSV does not survive: %v", err)
	}
	if file.Report.Format != JSON {
		return
	}
	for _, base := range [][]byte{nil, in} {
		checkJSON(t, file, all, base)
	}
}

func checkJSON(t *testing.T, file *File, all []offset.Target, base []byte) {
	var b bytes.Buffer
	var err error
	if base == nil {
		err = WriteJSON(&b, slices.Values(all), nil)
	} else {
		err = WriteJSON(&b, slices.Values(all), bytes.NewReader(base))
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Read(&b, Options{}); err != nil || again.Hash() != file.Hash() {
		t.Fatalf("JSON does not survive: %v", err)
	}
}
