package io.github.tidemarkmq.broker.store;

import java.util.List;

/**
 * Up to where the slaves that are waited for hold the log. A slave that lags is no reason to hold commits back for
 * ever, so the rule is one of time, as that of Kafka's replica.lag.time.max.ms: a slave is waited for as long as it
 * holds what the log held {@link #PATIENCE_MILLIS} ago. One that falls behind that, or goes away, is waited for again
 * once it has caught up. A member of a controller's in-sync set may become the master without asking anybody, so it
 * gets {@link #IN_SYNC_PATIENCE_MILLIS}, also while it is away; a controller that is there takes it out of the set
 * long before (haMaxTimeSlaveNotCatchup, 15 s).
 *
 * <p>Not safe for use by several threads.
 */
final class Replication {
    static final long PATIENCE_MILLIS = 10_000;
    static final long IN_SYNC_PATIENCE_MILLIS = 60_000;
    private static final long SAMPLE_MILLIS = 1_000;

    /** Where the log ended at some moments, the newest in front of next: one a second, a minute back and a bit. */
    private final long[] ends = new long[(int) (IN_SYNC_PATIENCE_MILLIS / SAMPLE_MILLIS) + 2];
    private final long[] times = new long[ends.length];
    private int next;
    private int taken;

    /**
     * Notes where the log ends now, and says up to where it is replicated.
     *
     * @param millis any clock that does not go back
     * @return {@link Long#MAX_VALUE} if no slave is waited for
     */
    long replicated(long millis, long end, List<Replica> replicas) {
        note(millis, end);
        long least = Long.MAX_VALUE;
        for (Replica r : replicas) {
            long patience = r.inSync ? IN_SYNC_PATIENCE_MILLIS : PATIENCE_MILLIS;
            if (r.acked >= endAt(millis - patience)) {
                least = Math.min(least, r.acked);
            }
        }
        return least;
    }

    private void note(long millis, long end) {
        if (taken > 0 && millis - times[last()] < SAMPLE_MILLIS) {
            return;
        }
        ends[next] = end;
        times[next] = millis;
        next = (next + 1) % ends.length;
        taken = Math.min(taken + 1, ends.length);
    }

    private int last() {
        return (next + ends.length - 1) % ends.length;
    }

    /** Where the log ended at the latest moment noted until then; -1 if none was noted that early: all hold that. */
    private long endAt(long millis) {
        for (int i = 1; i <= taken; i++) {
            int at = (next + ends.length - i) % ends.length;
            if (times[at] <= millis) {
                return ends[at];
            }
        }
        return -1;
    }
}
