package main

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"now":                         now,
		"90m":                         now.Add(-90 * time.Minute),
		"30d":                         now.AddDate(0, 0, -30),
		"0s":                          now,
		"2026-11-01T10:00:00Z":        time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01T10:00:00.5+02:00": time.Date(2026, 11, 1, 8, 0, 0, 500_000_000, time.UTC),
		"2026-11-01T10:00:00":         time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01T10:00:00.250":     time.Date(2026, 11, 1, 10, 0, 0, 250_000_000, time.UTC),
		"2026-11-01 10:00":            time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC),
		"2026-11-01":                  time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-01#10:00:00:123":     time.Date(2026, 11, 1, 10, 0, 0, 123_000_000, time.UTC), // mqadmin's
		"1700000000000":               time.UnixMilli(1_700_000_000_000),
	} {
		if got, err := moment("--to-time", text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "-5m", "-1d", "1700000000", "1.5d", "30 d", "2026-13-01", "99999999d", "0", "+0", "-0"} {
		if got, err := moment("--to-time", text, now); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%q is taken for %v, %v", text, got, err)
		}
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 1500 * time.Millisecond: "1s", 59 * time.Second: "59s", 90 * time.Second: "1m30s",
		time.Hour + 5*time.Second: "1h0m", 26*time.Hour + 3*time.Minute: "26h3m", 48 * time.Hour: "2d", 400 * 24 * time.Hour: "400d",
	} {
		if got := age(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
