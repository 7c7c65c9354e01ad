package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// layouts are the ways to write a time, the way of RocketMQ's mqadmin among
// them. One without a zone is UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", "2006-01-02 15:04:05.999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02#15:04:05.000", "2006-01-02"}

// millisFrom is the least number that is taken for Unix milliseconds: a smaller
// one is more likely seconds, or a slip.
const millisFrom = 100_000_000_000

// moment reads a time of the command line: a date, Unix milliseconds, "now", or
// how long ago as a duration, which may be in days.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	date := text
	if i := strings.LastIndexByte(text, ':'); strings.Contains(text, "#") && i > 0 {
		date = text[:i] + "." + text[i+1:] // mqadmin's milliseconds
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, date); err == nil {
			return t, nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= millisFrom {
		return time.UnixMilli(n), nil
	}
	if d, ok := ago(text); ok {
		return now.Add(-d), nil
	}
	return time.Time{}, offset.Errorf(offset.ErrInvalid, "%s %q is not a time; give a date such as 2026-11-29T20:00:00Z (UTC where it has no zone), Unix milliseconds, \"now\", or how long ago, such as 90m or 30d", flag, text)
}

// ago reads a duration of 0 or more: Go's, or whole days as "30d".
func ago(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0 && !strings.HasSuffix(text, "0") // Go reads a bare 0, and no other number, without a unit
}

// age gives a duration for people: two units at most, "-" for none.
func age(d time.Duration) string {
	switch d = d.Truncate(time.Second); {
	case d < 0:
		return "0s"
	case d >= 48*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d >= time.Hour:
		d = d.Truncate(time.Minute)
		return strings.TrimSuffix(d.String(), "0s")
	}
	return d.String()
}

// clock is the time by the machine.
func (s *session) clock() time.Time {
	if s.wall != nil {
		return s.wall()
	}
	return time.Now()
}
