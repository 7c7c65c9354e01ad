package offsetfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/fixture"
)

func TestReadLarge(t *testing.T) {
	const entries = 20_000
	var b bytes.Buffer
	if err := fixture.Large(&b, entries); err != nil {
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
	if err := WriteFile(path, func(w io.Writer) error { return fixture.Large(w, fixture.LargeEntries) }); err != nil {
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
