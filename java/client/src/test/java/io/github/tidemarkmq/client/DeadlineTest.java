package io.github.tidemarkmq.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The time left of a deadline, for waits in milliseconds. */
class DeadlineTest {
    @Test
    void whoeverWaitsItOutIsNotEarly() {
        for (long nanos : new long[] {1, 500_000, 999_999, 1_000_000, 1_000_001, 7_900_000}) {
            Deadline d = Deadline.after(nanos, TimeUnit.NANOSECONDS);
            long wait = TimeUnit.MILLISECONDS.toNanos(d.millis());
            long left = d.remaining(TimeUnit.NANOSECONDS);
            assertTrue(wait >= left, nanos + " ns: a wait of " + wait + " ns, and " + left + " are left");
        }
    }

    @Test
    void nothingIsLeftOfOneThatHasPassed() {
        Deadline d = Deadline.after(-5, TimeUnit.SECONDS);
        assertTrue(d.passed());
        assertEquals(0, d.millis());
    }
}
