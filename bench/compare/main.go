// Command compare measures Tidemark beside other stores on this machine and
// prints one table. README.md of bench tells how, and why it is fair.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/bench/programs"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

type flags struct {
	Size    string   `help:"How much: short (3 minutes), usual (at most 30) or full (2 hours and a quarter)." enum:"short,usual,full" default:"usual"`
	Systems []string `help:"What is measured; the first is what the others are compared with." placeholder:"NAME,..."`
	Rounds  uint     `help:"How often each row is measured; 0: 3 times for the short size, 5 for the others."`
	Rev     string   `help:"Measure an older build of Tidemark beside: a revision that git knows." placeholder:"REVISION"`
	Out     string   `help:"Folder of results, programs and data; its disk is measured." default:"out" type:"path"`
	Root    string   `help:"Tidemark's folder." default:".." type:"path"`
	Seed    uint64   `help:"Seed of the orders; 0 draws one."`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Measures Tidemark beside other stores, and prints a table in Markdown. What was measured is kept in --out: the same command goes on after an end."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := compare(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// comparison is one that is under way.
type comparison struct {
	record *Record
	// run is where the systems keep their data, and probe looks at its disk.
	run   string
	probe func(dir string, round int) (Disk, error)
}

// say tells on stderr how it goes.
func (c *comparison) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

func compare(ctx context.Context, f flags) (err error) {
	c := &comparison{run: filepath.Join(f.Out, "run"), probe: probe}
	if f.Systems, err = c.chosen(f); err != nil {
		return err
	}
	c.say("building; the first time this takes some minutes")
	subjects, err := subjectsOf(ctx, f)
	if err != nil {
		return err
	}
	if f.Seed == 0 {
		f.Seed = rand.Uint64()
	}
	if err := os.MkdirAll(c.run, 0o700); err != nil {
		return err
	}
	plan, err := newPlan(f.Size, f.Seed, subjects, thisMachine(c.run))
	if err != nil {
		return err
	}
	if f.Rounds > 0 {
		plan.Rounds = int(f.Rounds)
	}
	dir := filepath.Join(f.Out, f.Size)
	var aside string
	if c.record, aside, err = openRecord(dir, plan); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.record.Close()) }()
	if aside != "" {
		c.say("what was in %s is in %s now", dir, aside)
	}
	if n := len(c.record.Results); n > 0 {
		c.say("going on after %d results (seed %d)", n, c.record.Plan.Seed)
	}
	if err := c.measure(ctx); err != nil {
		return fmt.Errorf("%w (what was measured is kept, and the same command goes on there)", err)
	}
	return publish(dir, summarize(c.record))
}

// chosen are the systems that were asked for, or else those of the size that
// can be measured here.
func (c *comparison) chosen(f flags) (list []string, err error) {
	asked := f.Systems
	if len(asked) == 0 {
		asked = sizes[f.Size].systems
	}
	for _, name := range asked {
		kind, err := systems.KindOf(name)
		switch {
		case err != nil:
			return nil, err
		case kind.Lacking() == "":
			list = append(list, name)
		case len(f.Systems) > 0:
			return nil, fmt.Errorf("%s is to be measured, and %s is not installed", name, kind.Lacking())
		default:
			c.say("%s is not installed: the table lacks %s", kind.Lacking(), kind.Titled(""))
		}
	}
	return list, nil
}

// subjectsOf builds what is compared.
func subjectsOf(ctx context.Context, f flags) (list []Subject, err error) {
	b := programs.Builder{Root: f.Root, Out: filepath.Join(f.Out, "bin")}
	peers, err := b.Peers(ctx)
	if err != nil {
		return nil, err
	}
	current, err := b.Current(ctx)
	if err != nil {
		return nil, err
	}
	builds := []programs.Tidemark{current}
	if f.Rev != "" {
		older, err := b.Older(ctx, f.Rev)
		if err != nil {
			return nil, err
		}
		builds = append(builds, older)
	}
	for _, name := range f.Systems {
		jars, err := b.Jars(ctx, systems.All[name])
		if err != nil {
			return nil, err
		}
		for _, t := range builds {
			if t.Older && !systems.All[name].Ours() {
				continue // the others have one build
			}
			s, err := subject(name, t, peers, jars)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
	}
	return list, nil
}
