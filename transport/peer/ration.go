package peer

import (
	"sync"
	"time"
)

// rationTime is the shortest time between two lines of a ration.
const rationTime = 10 * time.Second

// ration lets one log line in rationTime through. What strangers do to the raft
// port, a port scan or a probe that only connects, must not flood the log. The
// zero value is ready; its methods may be called from any goroutine.
type ration struct {
	mu    sync.Mutex // guards what follows
	last  time.Time  // of the last line
	quiet int        // lines kept back since
}

// take reports whether a line may be written now, and how many were kept back since
// the one before.
func (r *ration) take(now time.Time) (quiet int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.last.IsZero() && now.Sub(r.last) < rationTime {
		r.quiet++
		return 0, false
	}
	quiet, r.last, r.quiet = r.quiet, now, 0
	return quiet, true
}
