package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// What a peer can get into the log makes no line that looks like another.
func TestLogLinesCannotBeForged(t *testing.T) {
	const forged = "2026-01-02T03:04:05.678Z [ERROR] tidemarkd: forged"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log := newLogger(&out, &settings{options: options{LogLevel: "info", LogFormat: format}})
		log.Warn("a name", "group", "a\n"+forged, "error", errors.New("b\n"+forged))
		log.Debug("not at this level")
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "2026-01-02") || format == "json" && !json.Valid([]byte(line)) {
				t.Errorf("%s: the line %q", format, line)
			}
		}
		if strings.Contains(out.String(), "not at this level") {
			t.Errorf("%s: a debug line at level info", format)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{&usageError{errors.New("x")}, 64},
		{wrong("--name", "is missing"), 3},
		{fmt.Errorf("starting: %w", wrong("--name", "is missing")), 3},
		{errors.New("x"), 1},
		{&logged{err: &node.Stopped{Code: node.ExitRemoved, Err: errors.New("removed")}}, node.ExitRemoved},
		{&logged{err: &store.Failure{Cause: store.CauseDiskFull, Err: errors.New("x")}}, 75},
		{offset.Errorf(offset.ErrInvalid, "x"), 3},
		{offset.Errorf(offset.ErrForeignCluster, "x"), node.ExitDamaged},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

// An error goes to one place: in one line, but for a log that people read,
// where what is to be copied stands on lines of its own.
func TestErrorsAreTold(t *testing.T) {
	var out, log bytes.Buffer
	tell(&out, errors.New("a\nb"))
	if out.String() != "tidemarkd: a b\n" {
		t.Errorf("told %q", out.String())
	}
	out.Reset()
	l := newLogger(&log, &settings{options: options{LogLevel: "info", LogFormat: "json"}})
	tell(&out, &logged{&node.Stopped{Code: 72, Err: errors.New("a\nb")}, l, true})
	if out.Len() != 0 || !strings.Contains(log.String(), `"cause":"a b"`) || !strings.Contains(log.String(), `"exit_code":72`) {
		t.Errorf("told %q, logged %q", out.String(), log.String())
	}
	log.Reset()
	l = newLogger(&log, &settings{options: options{LogLevel: "info", LogFormat: "text"}})
	tell(&out, &logged{&node.Stopped{Code: 71, Err: errors.New("it is lost\n  run\tthis")}, l, false})
	if text := log.String(); !strings.Contains(text, `the member has ended: cause="it is lost" exit_code=71`+"\n") || !strings.HasSuffix(text, "tidemarkd:   run this\n") {
		t.Errorf("logged %q", text)
	}
}
