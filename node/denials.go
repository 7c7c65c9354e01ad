package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm"
)

// How many lines of refusals the audit log takes: so many at once, and then one
// in each such time, which is some 4 MB a day.
const (
	denialBurst = 100
	denialEvery = 10 * time.Second
	// quietNames is how many callers a line for many refusals names.
	quietNames = 16
)

// denials keep a flood of refusals from filling the disk, and from pushing the
// lines of what was done out of the audit log. Callers that are known and those
// that are not have budgets of their own, so that strangers cannot hide the
// tries of somebody with a token. Methods may be called from any goroutine.
type denials struct {
	offer func(fsm.Record)
	every time.Duration

	mu sync.Mutex // guards what follows
	// known and strangers are the two budgets.
	known, strangers budget
	closed           bool
}

// budget is how many lines may be written now.
type budget struct {
	left   int
	filled time.Time // when left was last brought up to date
	// quiet is how many refusals have no line, of how many of each of the first
	// quietNames callers among them, last the latest, and timer, while there are
	// any, what writes one for all of them.
	quiet uint64
	of    map[string]uint64
	last  fsm.Record
	timer *time.Timer
}

func newDenials(offer func(fsm.Record), every time.Duration) *denials {
	return &denials{offer: offer, every: every, known: budget{left: denialBurst}, strangers: budget{left: denialBurst}}
}

// note writes a line, or counts it for a line that says how many had none.
func (d *denials) note(p auth.Principal, r fsm.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &d.known
	if p.Name == "" || p.Name == auth.AnonymousName {
		b = &d.strangers
	}
	now := time.Now()
	b.refill(now, d.every)
	if b.left > 0 && b.quiet == 0 {
		b.left--
		d.offer(r)
		return
	}
	b.hush(r)
	if b.timer == nil && !d.closed {
		b.timer = time.AfterFunc(d.every, func() { d.settle(b) })
	}
}

// hush counts a refusal that has no line.
func (b *budget) hush(r fsm.Record) {
	b.quiet++
	b.last = r
	if b.of == nil {
		b.of = make(map[string]uint64)
	}
	if _, named := b.of[r.Principal]; named || len(b.of) < quietNames {
		b.of[r.Principal]++
	}
}

// summed describes all refusals without a line, by caller: nobody's flood hides the
// attempts of another.
func (b *budget) summed() string {
	who := ""
	for _, name := range slices.Sorted(maps.Keys(b.of)) {
		who += fmt.Sprintf("%q=%d ", name, b.of[name])
	}
	return fmt.Sprintf("refusals_without_a_line=%d, by: %s; the last of them: %s", b.quiet, strings.TrimSpace(who), b.last.Detail)
}

func (b *budget) refill(now time.Time, every time.Duration) {
	if n := now.Sub(b.filled) / every; n > 0 {
		b.left = min(b.left+int(min(n, denialBurst)), denialBurst)
		b.filled = now
	}
}

// settle writes one line for all refusals that have none.
func (d *denials) settle(b *budget) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	if b.quiet == 0 {
		return
	}
	r := b.last
	r.Detail = b.summed()
	b.quiet, b.of = 0, nil
	b.refill(time.Now(), d.every)
	b.left = max(b.left-1, 0)
	d.offer(r)
}

// close writes what has been counted; later refusals are only counted. No timer
// runs afterwards.
func (d *denials) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.settle(&d.known)
	d.settle(&d.strangers)
}
