package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// Lines of strace -f -ttt -T: a call whole, or the second half of one that
// another thread's lines cut in two. The time of the first is its begin, that
// of the second its end.
var (
	whole   = regexp.MustCompile(`^\d+\s+(\d+\.\d+) fdatasync\(\d+\)\s+= 0 <(\d+\.\d+)>`)
	resumed = regexp.MustCompile(`^\d+\s+(\d+\.\d+) <\.\.\. fdatasync resumed>\)\s+= 0 <(\d+\.\d+)>`)
)

// readSyncs returns the completed fdatasync calls in a trace.
func readSyncs(path string) ([]span, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []span
	s := bufio.NewScanner(f)
	for s.Scan() {
		if y, ok := parseSync(s.Text()); ok {
			list = append(list, y)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return list, nil
}

func parseSync(line string) (span, bool) {
	if m := whole.FindStringSubmatch(line); m != nil {
		at, took := number(m[1]), number(m[2])
		return span{at, at + took}, true
	}
	if m := resumed.FindStringSubmatch(line); m != nil {
		at, took := number(m[1]), number(m[2])
		return span{at - took, at}, true
	}
	return span{}, false
}

func number(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64) // the pattern allows digits and a point only
	return n
}
