package io.github.tidemarkmq.broker.progress;

/**
 * Is called once for each two-way commit, on a thread of {@link Progress} or of the committer, with no lock held that
 * the callee could meet. It must not block.
 */
public interface Decided {
    void decided(Decision decision);

    /** What became of a two-way commit. */
    enum Decision {
        /** The value, or a newer one of the key, is on the disks of a quorum. */
        DURABLE,
        /** Not yet: 2 s have passed, too many wait, or the key is lost. The value stays queued, unless it is lost. */
        NOT_YET,
        /** Not taken: a reset of the key is assigned and not yet followed. Nothing has changed. */
        RESET
    }
}
