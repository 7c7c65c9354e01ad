package offsetfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
)

// writeLarge writes a file of entries keys with four queues each, in the bare
// dialect: 900,000 of them are 47 MB.
func writeLarge(w io.Writer, entries int) error {
	b := bufio.NewWriter(w)
	b.WriteString(`{"offsetTable":{`)
	for i := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `"t%d@g%d":{0:%d,1:%d,2:%d,3:%d}`, i%997, i, i, i+1, i+2, i+3)
	}
	b.WriteString("}}\n")
	return b.Flush()
}

func TestReadLarge(t *testing.T) {
	const entries = 20_000
	var b bytes.Buffer
	if err := writeLarge(&b, entries); err != nil {
		t.Fatal(err)
	}
	f, err := Read(&b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Report.Entries != entries || f.Report.Offsets != 4*entries || f.Report.SkippedTotal != 0 {
		t.Fatalf("report is %+v", f.Report)
	}
	for _, e := range f.Entries {
		var i int
		if _, err := fmt.Sscanf(e.Group, "g%d", &i); err != nil || e.Topic != fmt.Sprintf("t%d", i%997) {
			t.Fatalf("entry is %+v", e)
		}
		n := int64(i)
		if !slices.Equal(e.Queues, []Queue{{0, n}, {1, n + 1}, {2, n + 2}, {3, n + 3}}) {
			t.Fatalf("entry is %+v", e)
		}
	}
}

// BenchmarkReadLarge reads 47 MB with 3.6 million offsets, and reports what
// stays in memory for each.
func BenchmarkReadLarge(b *testing.B) {
	path := b.TempDir() + "/consumerOffset.json"
	if err := WriteFile(path, func(w io.Writer) error { return writeLarge(w, 900_000) }); err != nil {
		b.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(st.Size())
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, err := ReadPath(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if f.Report.Offsets != 3_600_000 {
			b.Fatalf("%d offsets", f.Report.Offsets)
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(f.Report.Offsets), "B/offset")
		runtime.KeepAlive(f)
	}
}
