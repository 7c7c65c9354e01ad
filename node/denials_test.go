package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm"
)

// TestALineOfARefusalIsBounded: what strangers show may be repeated in the
// reason, and pushes no line of others out of the log.
func TestALineOfARefusalIsBounded(t *testing.T) {
	n := &Node{config: Config{}.withDefaults()}
	var line fsm.Record
	n.denials = newDenials(func(r fsm.Record) { line = r }, denialEvery)
	n.Refused("10.0.0.1:1", "call", errors.New(strings.Repeat("\x00", 1<<20)))
	if len(line.Detail) > 5*reasonBytes || !strings.HasPrefix(line.Detail, `request="call" reason="\x00`) {
		t.Errorf("%d bytes: %.100s", len(line.Detail), line.Detail)
	}
}

// TestAFloodHidesNoOtherCaller: who has no line of its own is named with the
// number of its tries.
func TestAFloodHidesNoOtherCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last fsm.Record
		d := newDenials(func(r fsm.Record) { last = r }, denialEvery)
		note := func(name string) {
			d.note(auth.Principal{Name: name}, fsm.Record{Principal: name, Detail: "x"})
		}
		for range 500 {
			note("loud")
		}
		note("quiet\n")
		note("loud")
		d.close()
		if want := `refusals_without_a_line=402, by: "loud"=401 "quiet\n"=1; the last of them: x`; last.Detail != want {
			t.Errorf("%s, want %s", last.Detail, want)
		}
		many := &budget{}
		for i := range 10_000 {
			many.hush(fsm.Record{Principal: fmt.Sprint(i)})
		}
		if len(many.of) != quietNames || many.quiet != 10_000 {
			t.Errorf("%d names of %d", len(many.of), many.quiet)
		}
	})
}

// TestDenialsAreBounded: a flood of refusals leaves some hundred lines and then
// one in ten seconds, each of which tells how many had none; none is untold, and
// strangers take no line of a caller that is known.
func TestDenialsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []fsm.Record
		d := newDenials(func(r fsm.Record) { lines = append(lines, r) }, denialEvery)
		written := func() []fsm.Record { // as the timers' goroutines left them
			d.mu.Lock()
			defer d.mu.Unlock()
			return slices.Clone(lines)
		}
		stranger, known := auth.Anonymous("10.0.0.1:1"), auth.Principal{Name: "app", From: "10.0.0.2:1"}
		for i := range 5000 {
			d.note(stranger, fsm.Record{Principal: stranger.Name, Detail: fmt.Sprint("try ", i)})
		}
		if n := len(written()); n != denialBurst {
			t.Fatalf("%d lines at once", n)
		}
		d.note(known, fsm.Record{Principal: known.Name, Detail: "mine"})
		if last := written()[denialBurst]; last.Detail != "mine" {
			t.Errorf("the line of a known caller is %+v", last)
		}
		time.Sleep(denialEvery + time.Second)
		synctest.Wait()
		if last := written()[denialBurst+1]; !strings.HasPrefix(last.Detail, `refusals_without_a_line=4900, by: "anonymous"=4900; the last of them: try 4999`) {
			t.Errorf("after a while: %+v", last)
		}

		// A flood that goes on for an hour.
		before, told := len(written()), uint64(0)
		for range 3600 {
			for range 100 {
				d.note(stranger, fsm.Record{Detail: "x"})
			}
			time.Sleep(time.Second)
		}
		d.close()
		synctest.Wait()
		for _, l := range written()[before:] {
			var n uint64
			if _, err := fmt.Sscanf(l.Detail, "refusals_without_a_line=%d,", &n); err != nil {
				n = 1
			}
			told += n
		}
		if told != 360_000 {
			t.Errorf("%d refusals are told of 360,000", told)
		}
		if n := len(written()) - before; n > denialBurst+2*360 {
			t.Errorf("%d lines in an hour", n)
		}
		d.note(stranger, fsm.Record{Detail: "late"}) // starts no timer
	})
}
