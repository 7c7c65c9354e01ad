package javaparts

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Source is a Java program of one source file, run against a set.
type Source struct {
	// Set is what it runs with, and Jars what lies before that on the class path.
	Set  Set
	Jars []string
	// File is its source, relative to the folder of the test or absolute.
	File string
	// Options are the JVM's, Args the program's.
	Options, Args []string
}

// Program is a running program that answers commands: each is a line on its
// stdin, and its answer lines on stdout, the last of them ".". It ends with the
// test. Its methods may be called from any goroutine; commands wait for each other.
type Program struct {
	tb testing.TB
	p  *process
	in *os.File

	mu    sync.Mutex // guards lines
	lines *bufio.Scanner
}

// Start compiles and runs the program.
func (s Source) Start(tb testing.TB) *Program {
	tb.Helper()
	needs(tb, "javac") // java compiles the source only where a JDK is
	file, err := filepath.Abs(s.File)
	if err != nil {
		tb.Fatal(err)
	}
	path := append(s.Jars[:len(s.Jars):len(s.Jars)], Classpath(tb, s.Set))
	args := append([]string{"-Xmx384m", "-Dfile.encoding=UTF-8"}, s.Options...)
	args = append(args, "-cp", strings.Join(path, string(os.PathListSeparator)), file)
	return StartProgram(tb, java(append(args, s.Args...)...))
}

// StartProgram runs a program that is no Java program, or an own command line.
func StartProgram(tb testing.TB, cmd *exec.Cmd) *Program {
	tb.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer theirOut.Close()
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	p := &Program{tb: tb, in: in, lines: bufio.NewScanner(out)}
	p.lines.Buffer(nil, 16<<20)
	if p.p, err = launch(tb.TempDir(), "program", cmd); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		p.p.endWithin(10*time.Second, syscall.SIGTERM)
		out.Close()
		if tb.Failed() {
			tb.Logf("%s said last:\n%s", p.p.name, p.p.said())
		}
	})
	return p
}

// Ask gives the answer to a command, whose words are kept apart by tabs. The
// test fails if the program ends, or takes longer than Patience.
func (p *Program) Ask(words ...string) []string {
	p.tb.Helper()
	answer, err := p.TryAsk(words...)
	if err != nil {
		p.tb.Fatal(err)
	}
	return answer
}

// TryAsk is Ask for a program that may be killed meanwhile.
func (p *Program) TryAsk(words ...string) (answer []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	late := time.AfterFunc(Patience, p.Kill) // which ends the reading
	defer late.Stop()
	if _, err := fmt.Fprintln(p.in, strings.Join(words, "\t")); err != nil {
		return nil, p.ended(words[0])
	}
	for p.lines.Scan() {
		if p.lines.Text() == "." {
			return answer, nil
		}
		answer = append(answer, p.lines.Text())
	}
	return nil, p.ended(words[0])
}

func (p *Program) ended(command string) error {
	return fmt.Errorf("the program ended, or took longer than %v, over %q; it said: %s", Patience, command, p.p.said())
}

// Kill ends the program as kill -9 does, and waits for that.
func (p *Program) Kill() { p.p.end(syscall.SIGKILL) }

// Said gives the end of what the program wrote to stderr.
func (p *Program) Said() string { return p.p.said() }
