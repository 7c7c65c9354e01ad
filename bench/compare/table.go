package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/results"
)

// publish writes a summary as JSON and Markdown into a folder, and prints the latter.
func publish(dir string, s Summary) error {
	figures, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	page := []byte(s.Markdown())
	_, err = os.Stdout.Write(page)
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, "table.json"), append(figures, '\n'), 0o600),
		os.WriteFile(filepath.Join(dir, "table.md"), page, 0o600))
}

// Markdown is the table with what is to be known beside it.
func (s Summary) Markdown() string {
	var b bytes.Buffer
	p := s.Plan
	fmt.Fprintf(&b, "%s UTC, %s. All processes of a system and its callers are on this machine and its disk, alone but for what else runs there (load average %s, the comparison's own load included).\n",
		p.Began.Format("2006-01-02 15:04"), p.Machine, loads(s.Disks))
	fmt.Fprintf(&b, "fdatasync of 4 KiB: %s.\n", disks(s.Disks))
	fmt.Fprintf(&b, "%d rounds of %v a row in drawn order (seed %d); median, least and most. \"times\": how many times better %s is, the median of the rounds.\n\n",
		p.Rounds, p.For, p.Seed, p.Subjects[0].Title)
	b.WriteString("| work | system, durability | figure | p50 | p99 | times |\n|---|---|---|---|---|---|\n")
	for _, r := range s.Rows {
		fmt.Fprintf(&b, "| %s | %s; %s | %s | %s | %s | %s |\n", r.work(), r.Title, r.Durability, r.figure(), took(r.P50), took(r.P99), r.times())
	}
	if list := s.leftOut(); len(list) > 0 {
		b.WriteString("\nLeft out, since a system failed " + strconv.Itoa(attempts) + " times:\n\n" + strings.Join(list, ""))
	}
	return b.String()
}

// leftOut tells why rows lack rounds: a line for each system, round and reason.
func (s Summary) leftOut() (list []string) {
	for _, r := range s.Rows {
		for _, why := range r.LeftOut {
			if line := "- " + r.Title + ", " + why + "\n"; !slices.Contains(list, line) {
				list = append(list, line)
			}
		}
	}
	return list
}

// work names a row; what was chosen by trying is named too.
func (r Row) work() string {
	if r.Row == bestBatch {
		return r.Row + ": " + r.Work
	}
	return r.Row
}

func (r Row) figure() string {
	if len(r.Values) == 0 {
		return "LEFT OUT, see below"
	}
	text := fmt.Sprintf("%s/s (%s to %s)", thousands(r.Median), thousands(r.Least), thousands(r.Most))
	switch r.Kind {
	case results.Gap, results.NodeBack, results.AllBack:
		text = fmt.Sprintf("%.2f s (%.2f to %.2f, %d kills)", r.Median, r.Least, r.Most, len(r.Values))
	case results.Size:
		text = figures(r.Kind, r.Values)
	case results.Open:
		text = "offered " + text
	}
	if n := len(r.LeftOut); n > 0 {
		text += fmt.Sprintf("; %d rounds LEFT OUT, see below", n)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf("; %d requests failed", r.Failed)
	}
	return text
}

func (r Row) times() string {
	switch {
	case r.Times == 0:
		return ""
	case r.Times < 10:
		return fmt.Sprintf("%.1f", r.Times)
	default:
		return thousands(r.Times)
	}
}

// figures are values as they are told while measuring.
func figures(kind results.Kind, values []float64) string {
	var list []string
	for _, v := range values {
		switch kind.Unit() {
		case "s":
			list = append(list, fmt.Sprintf("%.2f s", v))
		case "bytes":
			list = append(list, thousands(v/1e6)+" MB")
		default:
			list = append(list, thousands(v)+"/s")
		}
	}
	return strings.Join(list, ", ")
}

// thousands writes a number, rounded, with a comma between each three digits.
func thousands(v float64) string {
	text := strconv.FormatInt(int64(math.Round(v)), 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// took writes a duration; nothing of none.
func took(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return latency.Round(d).String()
}

// span is least and most.
func span(list latency.Sorted) string {
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s to %s", latency.Round(slices.Min(list)), latency.Round(slices.Max(list)))
}

// loads are the load averages, from least to most.
func loads(list []Disk) string {
	var all []float64
	for _, d := range list {
		if v, err := strconv.ParseFloat(d.Load, 64); err == nil {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f to %.1f", slices.Min(all), slices.Max(all))
}
