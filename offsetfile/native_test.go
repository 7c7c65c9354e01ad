package offsetfile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

const aCluster = "000102030405060708090a0b0c0d0e0f"

func aHeader() Header { return Header{Cluster: aCluster, Index: 12, Written: 1_700_000_000_123} }

func native(t *testing.T, in ...offset.Target) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNative(&b, slices.Values(in), aHeader); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNativeGolden(t *testing.T) {
	in := []offset.Target{
		target("#a", `q"x`, "bk-north", 0, 9223372036854775807),
		target("组一", "a@b", "", 1, 0),
	}
	body := `# tidemark-offsets 1 cluster=000102030405060708090a0b0c0d0e0f index=12 written=2023-11-14T22:13:20.123Z
group,topic,broker,queue,offset
"#a","q""x",bk-north,0,9223372036854775807
组一,a@b,,1,0
`
	want := fmt.Sprintf("%s# end 2 sha256=%x\n", body, sha256.Sum256([]byte(body)))
	got := native(t, in...)
	if got != want {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
	for _, file := range []string{got, "\xef\xbb\xbf" + strings.ReplaceAll(got, "\n", "\r\n"), got + "\n\n"} {
		f, err := Read(strings.NewReader(file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := f.Report; r.Format != Native || *r.Native != aHeader() || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "index=12") {
			t.Errorf("the report is %+v", r)
		}
		if all := slices.Collect(f.All()); !slices.Equal(all, in) {
			t.Errorf("read back %v", all)
		}
	}
	if f, err := Read(strings.NewReader(native(t)), Options{}); err != nil || f.Report.Offsets != 0 || f.Report.Native.Index != 12 {
		t.Errorf("nothing is read back as %+v, %v", f, err)
	}
	if err := WriteNative(brokenWriter{}, slices.Values(in), aHeader); err == nil {
		t.Error("a write that failed is not told")
	}
}

func TestNativeRefuses(t *testing.T) {
	whole := native(t, target("g", "t", "b", 0, 5), target("g", "t", "b", 1, 6))
	lines := strings.SplitAfter(whole, "\n")
	for _, c := range []struct {
		in           string
		line, column int
		words        string
	}{
		{strings.Replace(whole, ",1,6", ",1,7", 1), 5, 1, "the file was changed"},
		{strings.Replace(whole, "index=12", "index=13", 1), 5, 1, "the file was changed"},
		{strings.Join(slices.Delete(slices.Clone(lines), 3, 4), ""), 4, 1, "the file was changed"},
		{strings.Join(lines[:4], ""), 5, 1, "cut off"},
		{strings.Join(lines[:1], ""), 2, 1, "the line that names the columns"},
		{whole + "g,t,b,2,7\n", 6, 1, "behind the end of the file"},
		{strings.Replace(whole, "offsets 1", "offsets 2", 1), 1, 1, "use a newer build"},
		{strings.Replace(whole, "offsets 1", "offsets x", 1), 1, 1, "the first line is"},
		{strings.Replace(whole, "index=12", "index=012", 1), 1, 1, "the file was changed"},
		{strings.Replace(whole, "cluster=0", "cluster=", 1), 1, 1, "cluster="},
		{strings.Replace(whole, "index=12 ", "", 1), 1, 1, "cluster="},
		{nativeMagic + "1 " + strings.Repeat("x", MaxString), 1, 1, "more than 4096 bytes"},
		{strings.Replace(whole, "# end", "# "+strings.Repeat("x", MaxString), 1), 5, 1, "more than 4096 bytes"},
	} {
		_, err := Read(strings.NewReader(c.in), Options{})
		wantFault(t, err, c.line, c.column, c.words)
	}
}

// TestNativeCutAnywhere: no part of a file is taken for the whole.
func TestNativeCutAnywhere(t *testing.T) {
	whole := native(t, target("g", "t", "b", 0, 5), target("h", "t", "b", 1, 6))
	for n := range len(whole) - 1 { // without its last line end it is whole
		if f, err := Read(strings.NewReader(whole[:n]), Options{}); err == nil {
			t.Fatalf("the first %d of %d bytes are taken, as %+v", n, len(whole), f.Report)
		}
	}
}

func TestNativeSurvivesWriting(t *testing.T) {
	name := rapid.StringMatching(`[ #,"%@|a-zé/_.+-]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		seen := map[offset.Key]bool{}
		var in []offset.Target
		for range rapid.IntRange(0, 12).Draw(t, "offsets") {
			x := target(name.Draw(t, "group"), name.Draw(t, "topic"), name.Draw(t, "broker"), rapid.Int32Min(0).Draw(t, "queue"), rapid.Int64Min(0).Draw(t, "offset"))
			if !seen[x.Key] {
				in = append(in, x)
			}
			seen[x.Key] = true
		}
		var b bytes.Buffer
		if err := WriteNative(&b, slices.Values(in), aHeader); err != nil {
			t.Fatal(err)
		}
		f, err := Read(&b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(in, func(x, y offset.Target) int { return x.Key.Compare(y.Key) })
		if got := slices.Collect(f.All()); !slices.Equal(got, in) {
			t.Fatalf("got %v, want %v", got, in)
		}
	})
}

// FuzzReadNative feeds any bytes to the reader; and a file whose offsets are
// any, in which one byte is then another: that is refused, or means the same.
func FuzzReadNative(f *testing.F) {
	row := csvHead + "\ng,t,b,0,5\n"
	f.Add([]byte(row), uint16(3), byte('x'))
	f.Add([]byte(nativeMagic+"1 "+aHeader().String()+"\n"+row+nativeEnd+"1 sha256=00\n"), uint16(90), byte('\n'))
	f.Add([]byte(csvHead+"\n\"#\",t,b,0,5\n"), uint16(120), byte('"'))
	f.Fuzz(func(t *testing.T, in []byte, at uint16, to byte) {
		file, err := Read(bytes.NewReader(in), Options{Format: Native})
		if err != nil {
			checkFault(t, err, in)
		} else {
			checkFile(t, file, in)
		}
		if file, err = Read(bytes.NewReader(in), Options{Format: CSV}); err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteNative(&b, file.All(), aHeader); err != nil {
			t.Fatal(err)
		}
		changed := b.Bytes()
		changed[int(at)%len(changed)] = to
		again, err := Read(bytes.NewReader(changed), Options{Format: Native})
		if err == nil && (again.Hash() != file.Hash() || *again.Report.Native != aHeader()) {
			t.Fatalf("a changed file is taken:\n%s", changed)
		}
		if err != nil {
			checkFault(t, err, changed)
		}
	})
}
