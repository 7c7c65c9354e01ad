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

// programs are what a cluster and its proofs need, by package. They are built
// without the race detector: what runs under it are the clusters inside tests.
var programs = map[string]string{
	"tidemarkd": "./cmd/node",
	"tidemark":  "./cmd/tidemark",
	"consume":   "./cluster-test/consume",
	"check":     "./cluster-test/check",
	"trace":     "./cluster-test/trace",
	"gaps":      "./cluster-test/gaps",
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

// Binaries builds the programs with that build tag (or none), once for all
// tests of the package, and returns the folder they are in.
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
	for name, pkg := range programs {
		if err := build(filepath.Join(dir, name), pkg, tag); err != nil {
			tb.Fatal(err)
		}
	}
	if built.dirs == nil {
		built.dirs = map[string]string{}
	}
	built.dirs[tag] = dir
	return dir
}

func build(to, pkg, tag string) error {
	args := []string{"build", "-o", to}
	if tag != "" {
		args = append(args, "-tags", tag)
	}
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
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
