// Command mutants shows that the checks would notice: for each known mistake of
// package planted it runs the general checks, none of which was written for it,
// until one finds it. It prints which did, and after how long; a mistake that
// none finds is exit 1, and so is a check that fails where none is made.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

type flags struct {
	Mistakes []string `arg:"" optional:"" help:"The mistakes to make, by their names; all of them without any."`
	Checks   []string `help:"Run these checks only." placeholder:"NAME"`
	List     bool     `help:"List the mistakes and the checks, and do nothing."`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Makes known mistakes on purpose, and shows which check finds each."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	list, err := chosen(f.Mistakes)
	if err != nil {
		return err
	}
	todo, err := named(f.Checks)
	if err != nil {
		return err
	}
	if f.List {
		fmt.Println("mistakes:", list)
		fmt.Println("checks:  ", names(todo))
		return nil
	}
	fmt.Fprintln(os.Stderr, "building with the tag", tag)
	b, err := build(ctx, todo)
	if err != nil {
		return err
	}
	defer b.remove()
	return round(ctx, b, todo, list)
}

// chosen finds mistakes by their names; all without any.
func chosen(names []string) (list []planted.Mistake, err error) {
	for _, n := range names {
		m, err := planted.ByName(n)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if list == nil {
		list = planted.All()
	}
	return list, nil
}

// round runs the checks without a mistake, which must be green, and then with
// each.
func round(ctx context.Context, b *built, todo []check, list []planted.Mistake) error {
	fmt.Printf("%-28s %-10s %8s  %s\n", "mistake", "found by", "after", "in the words of")
	s, err := b.look(ctx, todo, planted.None)
	if err != nil {
		return fmt.Errorf("without a mistake: %w", err)
	}
	if s.by != "" {
		fmt.Println(s)
		return fmt.Errorf("%s fails though no mistake is made", s.by)
	}
	fmt.Printf("%-28s %-10s %7.1fs\n", "none", "nothing", s.after.Seconds())
	var errs []error
	for _, m := range list {
		s, err := b.look(ctx, todo, m)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Println(s)
		if s.by == "" {
			errs = append(errs, errors.Join(fmt.Errorf("no check finds %s", m), err))
		}
	}
	fmt.Printf("%d of %d found\n", len(list)-len(errs), len(list))
	return errors.Join(errs...)
}
