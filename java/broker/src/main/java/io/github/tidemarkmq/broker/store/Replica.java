package io.github.tidemarkmq.broker.store;

/** A slave, as its master sees it at one moment. Immutable. */
public final class Replica {
    /** Up to where it has said that it holds the log; -1 before it has said anything, or while it is away. */
    final long acked;
    /** Whether a controller may make it the master at once: it is in the group's in-sync set. */
    final boolean inSync;

    public Replica(long acked, boolean inSync) {
        this.acked = acked;
        this.inSync = inSync;
    }
}
