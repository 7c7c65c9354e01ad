package javaparts

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// Program is a running Java program that answers commands: each is a line on
// its stdin, and its answer lines on stdout, the last of them ".". It ends with
// the test.
type Program struct {
	tb    testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	errs  bytes.Buffer // what it says on stderr; read once it has ended
}

// StartProgram compiles and runs a program of one source file against a set.
// options are the JVM's. It may take Patience, its answers included.
func StartProgram(tb testing.TB, set Set, source string, options ...string) *Program {
	tb.Helper()
	classpath := Classpath(tb, set)
	needs(tb, "javac") // java compiles the source only where a JDK is
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	args := append(jvm[:len(jvm):len(jvm)], "-Xmx256m", "-Dfile.encoding=UTF-8")
	args = append(append(args, options...), "-cp", classpath, source)
	p := &Program{tb: tb, cmd: exec.CommandContext(ctx, "java", args...)}
	p.cmd.Stderr = &p.errs
	var out io.Reader
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		cancel()
		tb.Fatalf("%s on %s: %v", source, set, err)
	}
	p.lines = bufio.NewScanner(out)
	tb.Cleanup(func() {
		defer cancel()
		p.in.Close()
		if err := p.cmd.Wait(); err != nil {
			tb.Errorf("%s on %s: %v: %s", source, set, err, lastLines(p.errs.Bytes(), 30))
		}
	})
	return p
}

// Ask gives the answer to a command.
func (p *Program) Ask(command string) (answer []string) {
	p.tb.Helper()
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		p.tb.Fatalf("the Java program has ended: %v", err)
	}
	for p.lines.Scan() {
		if p.lines.Text() == "." {
			return answer
		}
		answer = append(answer, p.lines.Text())
	}
	p.tb.Fatalf("the Java program has ended: %v", p.lines.Err())
	return nil
}
