package io.github.tidemarkmq.broker.progress;

import io.github.tidemarkmq.client.Code;
import io.github.tidemarkmq.client.Deadline;
import io.github.tidemarkmq.client.KeyPage;
import io.github.tidemarkmq.client.OffsetKey;
import io.github.tidemarkmq.client.TidemarkException;
import java.util.concurrent.TimeUnit;

/** Where a listing of the cluster's keys is: one that goes back, or takes for ever, must not hold up its caller. */
final class Pages {
    private static final long MOST_MINUTES = 10;

    private final Deadline deadline;
    private OffsetKey after;

    Pages() {
        this(Deadline.after(MOST_MINUTES, TimeUnit.MINUTES));
    }

    Pages(Deadline deadline) {
        this.deadline = deadline;
    }

    /** What the next page comes after; null for the first. */
    OffsetKey after() {
        return after;
    }

    /**
     * Continues after this page.
     *
     * @return false if it was the last one
     * @throws TidemarkException DAMAGED if another is to come and this one ends no later than the one before; NOT_READY
     *     after 10 minutes
     */
    boolean next(KeyPage page) throws TidemarkException {
        if (!page.more()) {
            return false;
        }
        OffsetKey last = page.last();
        if (last == null || after != null && OffsetKeys.byBytes(last, after) <= 0) {
            throw new TidemarkException(Code.DAMAGED, "a listing of keys does not get on behind " + after
                + ": the node is damaged, or of another version");
        }
        if (deadline.passed()) {
            throw new TidemarkException(Code.NOT_READY, "a listing of keys takes longer than " + MOST_MINUTES
                + " minutes");
        }
        after = last;
        return true;
    }
}
