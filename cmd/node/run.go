package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
)

// program is one run of the daemon: it returns the exit code. The first signal stops it
// cleanly, a second one at once.
func program(args []string, out, errs io.Writer, signals <-chan os.Signal) int {
	p, err := parse(args, out, errs)
	if err == nil && p.helped {
		return exitOK
	}
	if err == nil && p.Version {
		fmt.Fprintf(out, "tidemarkd %s %s, format level %d\n", version(), runtime.Version(), offset.FormatLevel)
		return exitOK
	}
	switch {
	case err != nil:
	case p.Man:
		err = printManual(out, p.model)
	default:
		err = start(p, out, errs, signals)
	}
	if err != nil {
		tell(errs, err)
	}
	return exitCode(err)
}

// start settles the options and runs the daemon, or shows what they are.
func start(p *parsed, out, errs io.Writer, signals <-chan os.Signal) error {
	s, err := settle(p.options)
	if err != nil {
		return err
	}
	if p.PrintConfig {
		p.options = s.options
		return printConfig(out, p.flags)
	}
	log := newLogger(errs, s)
	for _, name := range p.strangers {
		log.Warn("there is no such option; the variable is ignored", "variable", name)
	}
	d := &daemon{set: s, log: log, signals: signals}
	return d.run()
}

func newLogger(to io.Writer, s *settings) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name:       "tidemarkd",
		Level:      hclog.LevelFromString(s.LogLevel),
		Output:     to,
		JSONFormat: s.LogFormat == "json",
		TimeFormat: "2006-01-02T15:04:05.000Z07:00",
	})
}

// version is the build's, as the Go tool recorded it.
func version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "" {
		return "(devel)"
	}
	return b.Main.Version
}
