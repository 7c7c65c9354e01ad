package io.github.tidemarkmq.client;

import java.util.concurrent.TimeUnit;

/**
 * When a call, or several calls together, must be over. A call comes back at most 100 ms after it, whatever the
 * network does. Immutable, by a clock that nobody sets.
 */
public final class Deadline {
    private final long at;

    private Deadline(long at) {
        this.at = at;
    }

    /** A deadline from now; at most a day. */
    public static Deadline after(long time, TimeUnit unit) {
        long nanos = Math.max(0, Math.min(unit.toNanos(time), TimeUnit.DAYS.toNanos(1)));
        return new Deadline(System.nanoTime() + nanos);
    }

    /** The earlier of this and a deadline from now. */
    Deadline atMost(long millis) {
        Deadline other = after(millis, TimeUnit.MILLISECONDS);
        return other.at - at < 0 ? other : this;
    }

    /** The time left; 0 or less when it is over. */
    public long remaining(TimeUnit unit) {
        return unit.convert(at - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    /** The time left, for waits in milliseconds: rounded up, so that a wait of that length does not end early. */
    long millis() {
        long nanos = Math.max(0, remaining(TimeUnit.NANOSECONDS));
        return TimeUnit.NANOSECONDS.toMillis(nanos + TimeUnit.MILLISECONDS.toNanos(1) - 1);
    }

    /** Whether it is over. */
    public boolean passed() {
        return at - System.nanoTime() <= 0;
    }
}
