//go:build unix

package offsetfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tidemark-mq/tidemark/offset"
)

func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}

// A rename over a device, which root may do, would take the device away.
func TestWriteFileReplacesFilesAlone(t *testing.T) {
	dir := t.TempDir()
	pipe, folder, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700), os.Symlink(pipe, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, folder, link} {
		before, _ := os.Lstat(path)
		if err := WriteFile(path, hello); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%s: %v", path, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced (%v)", path, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteFileFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o644), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, hello); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "hello" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link leads to %q (%v)", to, err)
	}
}
