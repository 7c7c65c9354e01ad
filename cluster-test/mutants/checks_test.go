//go:build tidemark_mutants

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// The checks in this file are those of other packages, made into tests of the one
// binary that has the mistakes in it. The command runs each of them by itself.

// historyTime is how long the clients of a history are at work.
const historyTime = 30 * time.Second

// TestHistory runs clients under faults, and checks what they were told.
func TestHistory(t *testing.T) {
	theCommands(t)
	report, err := history.Run(t, history.Config{Duration: historyTime})
	fmt.Printf("%+v\n", report)
	if err != nil {
		t.Fatal(err)
	}
}

// TestStory is the main proof in small, on processes.
func TestStory(t *testing.T) { script(t, "story.sh", "8000") }

// TestTrace shows an fdatasync on a quorum before sampled acknowledgements.
func TestTrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
	script(t, "traced.sh", "3")
}

// theCommands skips a check that is not run by the command, and gives the folder
// of the programs.
func theCommands(t *testing.T) string {
	dir, ok := os.LookupEnv(programs)
	if !ok {
		t.Skip("run by make mutants")
	}
	return dir
}

// script runs a script of cluster-test with the programs that were built, which
// make the mistake that this process was told to make.
func script(t *testing.T, name string, args ...string) {
	c := local.New(t, 3, local.Programs(theCommands(t)), local.Env(planted.Variable, os.Getenv(planted.Variable)))
	cmd := c.Script(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	fmt.Println(out.String())
	if err != nil {
		t.Fatal(verdict(out.String(), err))
	}
}

// verdict is the line in which a script says what is wrong.
func verdict(said string, err error) string {
	for line := range strings.Lines(said) {
		for _, begin := range []string{"check: ", "trace: ", "cluster.sh: "} {
			if strings.HasPrefix(line, begin) || strings.Contains(line, "FAILED: ") {
				return line
			}
		}
	}
	return err.Error()
}
