package incluster

import "sync"

// shown is how many bytes of the members' logs a test that fails shows: the last.
const shown = 60_000

// logs keeps the end of what the members log, for a test that fails.
type logs struct {
	mu  sync.Mutex
	buf []byte // guarded by mu; twice shown at most
}

// Write keeps p.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buf = append(l.buf, p...); len(l.buf) > 2*shown {
		l.buf = append(l.buf[:0], l.buf[len(l.buf)-shown:]...)
	}
	return len(p), nil
}

func (l *logs) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.buf[max(0, len(l.buf)-shown):])
}
