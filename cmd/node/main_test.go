package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// asDaemon in the environment makes the test binary the daemon, so that tests
// run it as a process of its own without building it a second time.
const asDaemon = "RUN_AS_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(asDaemon) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// result is what a run of the program that ended at once gave.
type result struct {
	code      int
	out, errs string
}

// try runs the program in this process; it must end by itself. env are the
// TIDEMARK_ variables it sees.
func try(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	setEnv(t, env)
	var out, errs bytes.Buffer
	code := program(args, &out, &errs, make(chan os.Signal))
	return result{code, out.String(), errs.String()}
}

// setEnv gives the test these TIDEMARK_ variables and none of the machine's.
func setEnv(t *testing.T, env map[string]string) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, envPrefix+"_") {
			t.Setenv(name, "") // brings it back at the end of the test
			os.Unsetenv(name)
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tidemark.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
