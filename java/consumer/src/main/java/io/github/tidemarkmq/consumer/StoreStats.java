package io.github.tidemarkmq.consumer;

/** How a store is. */
public final class StoreStats {
    private final int queues;
    private final int unpersisted;
    private final int fenced;
    private final long persisted;
    private final long fences;
    private final boolean reachable;

    StoreStats(int queues, int unpersisted, int fenced, long persisted, long fences, boolean reachable) {
        this.queues = queues;
        this.unpersisted = unpersisted;
        this.fenced = fenced;
        this.persisted = persisted;
        this.fences = fences;
        this.reachable = reachable;
    }

    /** Queues in memory. */
    public int queues() {
        return queues;
    }

    /** Queues with an offset that the cluster is not known to have, those that left the consumer included. */
    public int unpersisted() {
        return unpersisted;
    }

    /** Queues that are fenced now. */
    public int fenced() {
        return fenced;
    }

    /** Offsets that were persisted since the start. */
    public long persisted() {
        return persisted;
    }

    /** Fences since the start. */
    public long fences() {
        return fences;
    }

    /** Whether the last attempt to reach the cluster came through. */
    public boolean reachable() {
        return reachable;
    }

    @Override
    public String toString() {
        return queues + " queues, " + unpersisted + " not persisted, " + fenced + " fenced; " + persisted
            + " persisted and " + fences + " fences since the start; the cluster "
            + (reachable ? "answers" : "does not answer");
    }
}
