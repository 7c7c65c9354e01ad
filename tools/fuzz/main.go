// Command fuzz runs the fuzz targets of this repository, some at a time, and
// prints a table: what each has run, the inputs that it keeps, and how much of
// the functions that these enter they cover.
//
//	fuzz [-time 20s] [-jobs 1] [-match REGEXP] [-skip REGEXP] [-planted] FOLDER
//
// FOLDER is the repository. Inputs that reach new code stay in Go's build cache,
// as those of "go test -fuzz" do, and are where the next run begins. -planted
// takes checks out of the decoders instead, one at a time, until each target
// notices. Exit code 1: a target has failed, or notices nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// settings are what the command line says.
type settings struct {
	root string
	time time.Duration
	jobs int
	// match and skip say which targets run, by their package and name.
	match, skip *regexp.Regexp
	planted     bool
	// work holds binaries and what they write; corpora are below corpus, as Go
	// has them.
	work, corpus string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := parse(os.Args[1:])
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("fuzz", flag.ExitOnError)
	flags.DurationVar(&s.time, "time", 20*time.Second, "how long each target runs")
	flags.IntVar(&s.jobs, "jobs", 1, "how many run at a time")
	match := flags.String("match", ".", "which targets, by package and name")
	skip := flags.String("skip", "^$", "which of these not")
	flags.BoolVar(&s.planted, "planted", false, "take checks out of the decoders, until each target notices")
	_ = flags.Parse(args) // it ends the process
	if flags.NArg() != 1 || s.jobs < 1 {
		return nil, fmt.Errorf("usage: fuzz [-time 20s] [-jobs 1] [-match REGEXP] [-skip REGEXP] [-planted] FOLDER")
	}
	var err error
	if s.match, err = regexp.Compile(*match); err != nil {
		return nil, err
	}
	if s.skip, err = regexp.Compile(*skip); err != nil {
		return nil, err
	}
	s.root, err = filepath.Abs(flags.Arg(0))
	return s, err
}

// run runs all targets and prints a line for each as it ends.
func (s *settings) run(ctx context.Context) (err error) {
	if s.work, err = os.MkdirTemp("", "tidemark-fuzz-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.work)
	cache, err := output(ctx, s.root, "go", "env", "GOCACHE")
	if err != nil {
		return err
	}
	s.corpus = filepath.Join(strings.TrimSpace(cache), "fuzz")
	targets, err := s.targets(ctx)
	if err != nil {
		return err
	}
	do := s.fuzz
	if s.planted {
		do = s.plant
	}
	queue, failed := make(chan *target), make(chan string, len(targets))
	var all sync.WaitGroup
	for range s.jobs {
		all.Go(func() {
			for t := range queue {
				line, ok := do(ctx, t)
				if fmt.Println(line); !ok {
					failed <- t.String()
				}
			}
		})
	}
	for _, t := range targets {
		queue <- t
	}
	close(queue)
	all.Wait()
	close(failed)
	var names []string
	for name := range failed {
		names = append(names, name)
	}
	if len(names) > 0 {
		return fmt.Errorf("%d of %d targets: %s", len(names), len(targets), strings.Join(names, ", "))
	}
	fmt.Printf("%d targets\n", len(targets))
	return nil
}

// output runs a program in a folder and gives what it prints; its error has what
// it said.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it ends with its workers
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	b, err := cmd.CombinedOutput()
	if err != nil {
		return string(b), fmt.Errorf("%s: %w\n%s", name, err, b)
	}
	return string(b), nil
}
