package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/yaml"
)

// result is what a command prints: as it is in json and yaml, by table for people.
type result interface {
	table(t *table)
}

// print writes a result to standard output in the form asked for.
func (s *session) print(r result) error {
	var (
		b   []byte
		err error
	)
	switch s.format {
	case "json":
		b, err = json.MarshalIndent(r, "", "  ")
		b = append(b, '\n')
	case "yaml":
		b, err = yaml.Marshal(r)
	default:
		t := &table{}
		t.w = tabwriter.NewWriter(&t.b, 0, 0, 2, ' ', 0)
		r.table(t)
		t.w.Flush()
		b = trailing.ReplaceAll([]byte(t.b.String()), nil)
	}
	if err != nil {
		return fmt.Errorf("forming the output: %w", err)
	}
	switch _, err = s.out.Write(b); {
	case err != nil && s.changed:
		return fmt.Errorf("it is done; writing what was done: %w", err)
	case err != nil:
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// trailing are the blanks that padding leaves at the ends of lines.
var trailing = regexp.MustCompile(`(?m) +$`)

// table collects aligned lines for people.
type table struct {
	b strings.Builder
	w *tabwriter.Writer
}

// row adds cells that are aligned with those of the rows around it.
func (t *table) row(cells ...string) { fmt.Fprintln(t.w, strings.Join(cells, "\t")) }

// line adds a line of text, and ends what is aligned.
func (t *table) line(format string, args ...any) {
	t.w.Flush()
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// shown gives a name from outside for a terminal: as it is, or quoted where a
// character could mislead.
func shown(name string) string {
	if name == "" {
		return "-"
	}
	for _, r := range name {
		if !strconv.IsPrint(r) || r == '"' {
			return strconv.Quote(name)
		}
	}
	if strings.TrimSpace(name) != name {
		return strconv.Quote(name)
	}
	return name
}

func num[T int | int32 | int64 | uint64 | uint32 | uint8](n T) string { return fmt.Sprint(n) }

// when gives a Unix time in milliseconds; empty for none.
func when(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}

// plural gives a number and a word.
func plural[T int | int64 | uint64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
