package main

import (
	"io"
	"strings"
	"testing"
)

// TestExamplesParse: what a help text shows can be typed, and is of its command.
func TestExamplesParse(t *testing.T) {
	seen := 0
	for words, list := range examples {
		for _, line := range list {
			command, err := newParser(&app{}, streams{out: io.Discard, err: io.Discard}, nil).Parse(strings.Fields(line))
			if err != nil {
				t.Errorf("tidemark %s: %v", line, err)
				continue
			}
			if got := commandWords(command.Selected()); got != words {
				t.Errorf("tidemark %s is an example of %q, and not of %q", line, got, words)
			}
		}
	}
	for _, leaf := range newParser(&app{}, streams{out: io.Discard, err: io.Discard}, nil).Model.Leaves(true) {
		if strings.HasPrefix(leaf.Detail, "Such as:") {
			seen++
		}
	}
	if seen != len(examples) {
		t.Errorf("%d help texts have examples, of %d commands with some", seen, len(examples))
	}
}
