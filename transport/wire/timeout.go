package wire

import (
	"context"
	"math"
	"time"
)

// MaxTimeout is the longest time that a request may ask to be waited for.
const MaxTimeout = time.Hour

// ToTimeout gives what is left of ctx's deadline as timeout_ms: at least 1,
// rounded up, and 0 (the server's default) where there is no deadline.
func ToTimeout(ctx context.Context) uint32 {
	at, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	ms := (time.Until(at) + time.Millisecond - 1) / time.Millisecond
	return uint32(min(max(ms, 1), math.MaxUint32))
}

// FromTimeout bounds ctx by a timeout_ms that counts from now, at most
// MaxTimeout; 0 is the given default. The caller must call the CancelFunc.
func FromTimeout(ctx context.Context, ms uint32, byDefault time.Duration) (context.Context, context.CancelFunc) {
	d := min(time.Duration(ms)*time.Millisecond, MaxTimeout)
	if ms == 0 {
		d = byDefault
	}
	return context.WithTimeout(ctx, d)
}
