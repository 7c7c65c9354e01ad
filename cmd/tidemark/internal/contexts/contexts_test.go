package contexts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestFileRoundTrip: what is written is read, by its owner alone.
func TestFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "tidemark", "contexts.json")
	f, err := Read(path)
	if err != nil || len(f.List()) != 0 || f.Current() != "" {
		t.Fatalf("a file that is not there gives %+v, %v", f, err)
	}
	want := []Context{{Name: "%RETRY%/组 一", Endpoints: []string{"h:1"}}, {Name: "prod", Endpoints: []string{"n1:7411", "n2:7411"}, Credentials: Credentials{CA: "/ca.crt", TokenFile: "/token"}}}
	for _, c := range want {
		if err := f.Add(c, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Use("prod"), f.Write(path)); err != nil {
		t.Fatal(err)
	}
	for p, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if st, err := os.Stat(p); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s has the mode %v, %v; want %v", p, st.Mode(), err, mode)
		}
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got.List(), want) || got.Current() != "prod" {
		t.Errorf("read %+v, %q, %v", got.List(), got.Current(), err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("beside the file there is %v, %v", list, err)
	}
}

func TestChanges(t *testing.T) {
	f := &File{}
	one, other := Context{Name: "a", Endpoints: []string{"h:1"}}, Context{Name: "a", Endpoints: []string{"h:2"}}
	if err := f.Add(one, false); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(other, false); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("a second context of the same name is %v", err)
	}
	if err := errors.Join(f.Add(other, true), f.Use("a")); err != nil {
		t.Fatal(err)
	}
	if c, err := f.Get("a"); err != nil || !reflect.DeepEqual(c, other) {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, bad := range []Context{{Endpoints: []string{"h:1"}}, {Name: "b\n", Endpoints: []string{"h:1"}}, {Name: "b"}} {
		if err := f.Add(bad, false); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%+v is %v", bad, err)
		}
	}
	for what, err := range map[string]error{"use": f.Use("b"), "remove": f.Remove("b")} {
		if !errors.Is(err, offset.ErrNotFound) {
			t.Errorf("%s of what is not there is %v", what, err)
		}
	}
	if err := f.Remove("a"); err != nil || f.Current() != "" || len(f.List()) != 0 {
		t.Errorf("after the removal there is %v, current %q, %v", f.List(), f.Current(), err)
	}
	for i := range MaxContexts {
		if err := f.Add(Context{Name: fmt.Sprint(i), Endpoints: []string{"h:1"}}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Add(Context{Name: "more", Endpoints: []string{"h:1"}}, false); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("one more than the most is %v", err)
	}
}

// TestDamagedFilesAreNamed, and never taken for an empty one.
func TestDamagedFilesAreNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "contexts.json")
	for _, text := range []string{"", "{", "null x", `{"contexts":{"a":[]}}`, `{"contexts":{"":["h:1"]}}`, `{"contexts":{},"current":"a"}`, `{"contexts":{},"other":1}`, `{"contexts":{}} {}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q gives %v", text, err)
		}
	}
}
