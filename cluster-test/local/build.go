package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// programs are what a cluster and its proofs need. They are built without the
// race detector: what runs under it are the clusters inside tests.
var programs = []string{
	"./cmd/node", "./cmd/tidemark",
	"./cluster-test/consume", "./cluster-test/check", "./cluster-test/trace", "./cluster-test/gaps",
}

// built holds the folders of programs, one for each set of build tags.
var built struct {
	sync.Mutex
	dirs map[string]string
}

// Root is the folder of the module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Binaries builds the programs, the daemon with that build tag (or none), once
// for all tests of the package, and returns the folder they are in.
func Binaries(tb testing.TB, tag string) string {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	if dir := built.dirs[tag]; dir != "" {
		return dir
	}
	dir, err := os.MkdirTemp("", "tidemark-programs-")
	if err != nil {
		tb.Fatal(err)
	}
	if built.dirs == nil {
		built.dirs = map[string]string{}
	}
	built.dirs[tag] = dir
	if err := build(dir, tag); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// build builds into dir. With a tag it is the daemon alone that differs, so the
// other programs are those of the build without.
func build(dir, tag string) error {
	packages := programs
	if without := built.dirs[""]; tag != "" && without != "" {
		packages = programs[:1]
		for _, p := range programs[1:] {
			name := filepath.Base(p)
			if err := os.Symlink(filepath.Join(without, name), filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return compile(dir, tag, packages)
}

// Build builds all programs with that build tag (or none) into dir, which it makes.
func Build(dir, tag string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return compile(dir, tag, programs)
}

func compile(dir, tag string, packages []string) error {
	args := []string{"build", "-ldflags", "-s -w", "-o", dir + "/"} // linked in half the time
	if tag != "" {
		args = append(args, "-tags", tag)
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.Rename(filepath.Join(dir, "node"), filepath.Join(dir, "tidemarkd"))
}

// Main is the TestMain of a package that runs clusters of processes: it removes
// what was built, and looks for goroutines left behind.
func Main(m *testing.M) {
	code := m.Run()
	for _, dir := range built.dirs {
		_ = os.RemoveAll(dir) // in the folder for temporary files
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
