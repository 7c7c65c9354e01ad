package io.github.tidemarkmq.broker.store;

import io.github.tidemarkmq.broker.progress.ActFailed;
import io.github.tidemarkmq.broker.progress.Key;
import io.github.tidemarkmq.broker.progress.Log;
import io.github.tidemarkmq.broker.progress.Rows;
import io.github.tidemarkmq.broker.progress.StartRefused;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Looks for offsets beyond the end of their queue and lowers them, as acts of 1,000 at most: by a master, once its
 * store has started and before anybody is served from it.
 */
public final class TailCheck {
    /** What to do about what is found. */
    public enum Policy {
        /** Lower them; at a start that looks like one from a wrong disk, end it. */
        END,
        /** Lower them, however many. */
        LOWER,
        /** Leave them: consumers skip what comes in their place. */
        KEEP
    }

    /** As {@code progress.Progress.rows}. */
    public interface Table {
        void rows(Rows rows);
    }

    /** As {@code progress.Progress.assign}. */
    public interface Reset {
        void assign(Map<Key, Long> targets) throws ActFailed;
    }

    /** With the longest names that a broker has, so many stay within what a request may carry. */
    private static final int ACT = 1_000;
    private static final long PATIENCE_SECONDS = 30;

    private final Table table;
    private final Reset reset;
    private final QueueEnds ends;
    private final Policy policy;
    private final Log log;

    /** A check of what the table has, against the ends of queues; what is lowered goes through reset. */
    public TailCheck(Table table, Reset reset, QueueEnds ends, Policy policy, Log log) {
        this.table = table;
        this.reset = reset;
        this.ends = ends;
        this.policy = policy;
        this.log = log;
    }

    /**
     * The check of a master that starts. Blocks, for half a minute if the cluster does not answer.
     *
     * @throws StartRefused it is a wrong disk, as far as one can see, or the cluster could not be told
     */
    public void atStart() throws StartRefused {
        if (policy == Policy.KEEP) {
            return;
        }
        LostTail tail = look();
        lower(policy == Policy.LOWER ? tail.allLowered() : tail.lowered(), PATIENCE_SECONDS);
    }

    /**
     * The check of a slave that has become the master: its log is the one that counts from now on, however short.
     *
     * @throws StartRefused the cluster could not be told
     */
    public void atPromotion() throws StartRefused {
        lower(PATIENCE_SECONDS);
    }

    /**
     * The same once more, without patience: for a caller that tries again by itself, and holds locks meanwhile.
     *
     * @throws StartRefused the cluster could not be told
     */
    public void again() throws StartRefused {
        lower(0);
    }

    private void lower(long patienceSeconds) throws StartRefused {
        if (policy != Policy.KEEP) {
            lower(look().allLowered(), patienceSeconds);
        }
    }

    private LostTail look() {
        LostTail tail = new LostTail(ends);
        table.rows(tail::add);
        return tail;
    }

    private void lower(Map<Key, Long> all, long patienceSeconds) throws StartRefused {
        Map<Key, Long> act = new LinkedHashMap<>();
        for (Map.Entry<Key, Long> e : all.entrySet()) {
            act.put(e.getKey(), e.getValue());
            if (act.size() == ACT) {
                assign(act, patienceSeconds);
                act = new LinkedHashMap<>();
            }
        }
        if (!act.isEmpty()) {
            assign(act, patienceSeconds);
        }
        if (!all.isEmpty()) {
            Map.Entry<Key, Long> first = all.entrySet().iterator().next();
            log.warn("The log has lost its tail: " + all.size() + " offsets were beyond the end of their queue and are"
                + " lowered to it, " + first.getKey() + " to " + first.getValue() + " among them. What consumers had"
                + " of the messages that are gone is not affected.");
        }
    }

    private void assign(Map<Key, Long> act, long patienceSeconds) throws StartRefused {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(patienceSeconds);
        while (true) {
            try {
                reset.assign(act);
                return;
            } catch (ActFailed e) {
                if (System.nanoTime() - deadline > 0) {
                    throw new StartRefused(act.size() + " offsets are beyond the end of their queue, and lowering them"
                        + " failed for " + patienceSeconds + " s: " + e.getMessage(), e);
                }
                log.warn("Lowering offsets beyond the end of their queue is tried again: " + e.getMessage());
                pause();
            }
        }
    }

    private static void pause() throws StartRefused {
        try {
            Thread.sleep(500);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartRefused("the broker was stopped while it started", e);
        }
    }
}
