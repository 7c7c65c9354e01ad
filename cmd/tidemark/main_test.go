package main

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// asProgram in the environment makes the test binary the program, so that a
// shell can run it without its being built a second time.
const asProgram = "RUN_AS_TIDEMARK"

// TestMain keeps the tests off what the user who runs them has saved.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	dir, err := os.MkdirTemp("", "tidemark-test-*")
	if err == nil {
		err = os.Setenv("XDG_CONFIG_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}
