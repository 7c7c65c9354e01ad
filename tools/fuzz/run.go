package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// errEndless is an input that a decoder does not come to the end of.
var errEndless = errors.New("an input was not done with after a minute")

var execLine = regexp.MustCompile(`execs: (\d+)`)

// fuzz runs a target, and tells what came of it.
func (s *settings) fuzz(ctx context.Context, t *target) (line string, ok bool) {
	out, err := s.attack(ctx, t, t.dir)
	if err != nil {
		return fmt.Sprintf("%-28s FAILED\n%s", t, out), false
	}
	execs := "0"
	if all := execLine.FindAllStringSubmatch(out, -1); len(all) > 0 {
		execs = all[len(all)-1][1]
	}
	kept, _ := os.ReadDir(t.kept(s)) // none is 0
	c, err := s.cover(ctx, t)
	if err != nil {
		return fmt.Sprintf("%-28s %v", t, err), false
	}
	return fmt.Sprintf("%-28s %9s runs, %5d inputs kept, %s", t, execs, len(kept), c), true
}

// attack runs a target for its time in a folder, from the corpus that there is.
func (s *settings) attack(ctx context.Context, t *target, dir string) (out string, err error) {
	bin, err := t.binary(ctx, s, &t.fuzzer, "-fuzz", ".")
	if err != nil {
		return err.Error(), err
	}
	return s.shoot(ctx, t, bin, dir, filepath.Dir(t.kept(s)))
}

// mostMemory is the address space of a run, in KiB: of a decoder that lacks a
// check, any bytes may ask for all that there is.
const mostMemory = "8388608"

// shoot runs a test binary that was built for fuzzing. One input may take a
// minute longer than the whole run should.
func (s *settings) shoot(ctx context.Context, t *target, bin, dir, corpus string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.time+time.Minute, errEndless)
	defer cancel()
	out, err := output(ctx, dir, "bash", "-c", "ulimit -v "+mostMemory+` && exec "$0" "$@"`, bin, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+s.time.String(),
		"-test.fuzzcachedir="+corpus, "-test.parallel=1", "-test.fuzzminimizetime=5s")
	if errors.Is(context.Cause(ctx), errEndless) {
		return out + "\npanic: " + errEndless.Error(), errEndless
	}
	return out, err
}
