// Command import50 imports a large consumerOffset.json into a cluster of three
// processes on this machine, with other commits beside it, kills the leader
// half way and the import itself later, runs the import again, and demands the
// state of one clean run.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/internal/fixture"
)

type flags struct {
	Run     string `help:"Folder of the cluster and its files; deleted at the end." default:".run/bench-import"`
	Bin     string `help:"Where tidemarkd and tidemark lie." default:"bin" type:"path"`
	Port    int    `help:"First port." default:"8211"`
	Entries int    `help:"Keys (topic@group) of the file, 4 offsets each." default:"900000"`
	Kill    bool   `help:"Kill the leader at half, and the import at three quarters." default:"true" negatable:""`
	Bounds  bool   `help:"Fail if a figure misses its bound." default:"true" negatable:""`
}

func main() {
	var f flags
	kong.Parse(&f, kong.Description("Imports a file of 3.6 million offsets under load, through a kill of the leader. Prints rows of a markdown table."))
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "import50:", err)
		os.Exit(1)
	}
}

func run(f flags) (err error) {
	if err := os.MkdirAll(f.Run, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(f.Run)
	t := &trial{flags: f, file: filepath.Join(f.Run, "consumerOffset.json"), cluster: &nodes.Cluster{Run: filepath.Join(f.Run, "cluster"), Bin: f.Bin, Port: f.Port}}
	if err := t.write(); err != nil {
		return err
	}
	defer func() {
		if end := t.cluster.Close(); err == nil {
			err = end
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	clean, err := t.clean(ctx)
	if err != nil {
		return fmt.Errorf("the clean run: %w", err)
	}
	again, err := t.loaded(ctx)
	if err != nil {
		return fmt.Errorf("the run under load: %w", err)
	}
	if clean != again {
		return fmt.Errorf("the run under load ended in another state than the clean one: %x instead of %x", again, clean)
	}
	row("state after the kills, the resumed import and a second import", "the same as after one clean import (SHA-256 of the export)")
	return t.late()
}

// trial is what the runs share.
type trial struct {
	flags
	file    string
	cluster *nodes.Cluster
	// missed are figures beyond their bounds.
	missed []string
}

func (t *trial) offsets() int { return 4 * t.Entries }

func (t *trial) write() error {
	w, err := os.OpenFile(t.file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := fixture.Large(w, t.Entries); err != nil {
		return err
	}
	size, err := w.Seek(0, 1)
	if err != nil {
		return err
	}
	row("file", "%.1f MB, %d offsets", float64(size)/1e6, t.offsets())
	return w.Close()
}

// row prints a row of the table.
func row(what, format string, args ...any) {
	fmt.Printf("| import: %s | %s |\n", what, fmt.Sprintf(format, args...))
}

// bound prints a row and notes it if it misses its bound.
func (t *trial) bound(what string, value, most float64, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if value > most {
		t.missed = append(t.missed, what+": "+text)
	}
	row(what, "%s", text)
}

// late is the verdict on all bounds.
func (t *trial) late() error {
	if len(t.missed) > 0 && t.Bounds {
		return fmt.Errorf("beyond their bounds: %q", t.missed)
	}
	return nil
}

func round(d time.Duration) time.Duration { return latency.Round(d) }
