package main

import (
	"math"
	"testing"
)

func TestParseSync(t *testing.T) {
	for _, c := range []struct {
		line string
		want span
		ok   bool
	}{
		{"1234  1700000000.500000 fdatasync(9) = 0 <0.000250>", span{1700000000.5, 1700000000.50025}, true},
		{"1234  1700000000.500000 <... fdatasync resumed>) = 0 <0.000250>", span{1700000000.49975, 1700000000.5}, true},
		{"1234  1700000000.500000 fdatasync(9 <unfinished ...>", span{}, false},
		{"1234  1700000000.500000 fdatasync(9) = -1 EIO (Input/output error) <0.000250>", span{}, false},
	} {
		got, ok := parseSync(c.line)
		if ok != c.ok || math.Abs(got.begin-c.want.begin) > 1e-6 || math.Abs(got.end-c.want.end) > 1e-6 {
			t.Errorf("%s: %v, %v; want %v, %v", c.line, got, ok, c.want, c.ok)
		}
	}
}

// A sync counts only if it lies between sending and acknowledgement.
func TestSynced(t *testing.T) {
	nodes := [][]span{{{1, 2}}, {{1.5, 3.5}}, {{0.5, 1.5}, {2, 2.5}}}
	if n := synced(nodes, span{1, 3}); n != 2 {
		t.Fatalf("%d nodes have synced within 1 to 3; want 2", n)
	}
	if n := synced(nodes, span{4, 5}); n != 0 {
		t.Fatalf("%d nodes have synced within 4 to 5; want 0", n)
	}
}
