//go:build tidemark_mutants

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// The checks in this file are those of other packages, made into tests of the one
// binary that has the mistakes in it. The command runs each of them by itself.

// TestHistory runs clients under all kinds of fault, and checks what they were told.
func TestHistory(t *testing.T) {
	endure(t, history.Config{Duration: 30 * time.Second, Faults: fault.All()})
}

// TestDeaths is the same where nodes end and come back.
func TestDeaths(t *testing.T) {
	endure(t, history.Config{Duration: 40 * time.Second, Faults: faultsNamed("^kill -9 of (all|a follower)|^restart")})
}

// TestElections is the same where leaders lose their office in every way.
func TestElections(t *testing.T) {
	endure(t, history.Config{Duration: 40 * time.Second, Faults: faultsNamed("leader (alone|is not heard|does not hear|hears late)|flapping|transfers|kill -9 of the leader")})
}

// TestInstalls is the same where members are sent snapshots.
func TestInstalls(t *testing.T) {
	endure(t, history.Config{Duration: 20 * time.Second, CutLogs: true, Faults: fault.Installs()})
}

// TestDivergences is the same where a member's state is, or would become, another
// than that of the others.
func TestDivergences(t *testing.T) {
	endure(t, history.Config{Duration: 20 * time.Second, Faults: faultsNamed("a member's")})
}

func faultsNamed(faults string) []fault.Fault { return fault.Named(regexp.MustCompile(faults)) }

// endure runs a history in short rounds, each of which is checked at its end.
func endure(t *testing.T, c history.Config) {
	theCommands(t)
	c.Round, c.Keep = 10*time.Second, cmp.Or(os.Getenv(histories), t.TempDir())
	report, err := history.Run(t, c)
	fmt.Printf("%s\n", report)
	if err != nil {
		t.Fatal(err)
	}
}

// TestStory is the main proof in small, on processes.
func TestStory(t *testing.T) { script(t, "story.sh", "8000") }

// TestLoad has many consumers share one client, beside readers that hold what they
// are told against what was acknowledged.
func TestLoad(t *testing.T) {
	c := local.Start(t, 3, local.Programs(theCommands(t)), local.Env(planted.Variable, os.Getenv(planted.Variable)))
	l := load.Start(t, c.Client, load.Shape{Clients: 1, Consumers: 32, Queues: 2})
	l.More(20)
	l.Check(c.Nodes())
}

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
