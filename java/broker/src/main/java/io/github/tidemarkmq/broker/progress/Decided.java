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
        /** Not yet: 2 s have passed, or too many wait. The value stays queued; what the sender may do is send again. */
        NOT_YET,
        /** Not taken: a reset of the key is assigned and not yet followed. Nothing has changed. */
        RESET,
        /**
         * Not taken, or given up: the key was moved on purpose, and this connection has not read it since; or another
         * broker has claimed the name. What the sender may do is read the key.
         */
        CLOSED,
        /** Not taken: a slave lowers nothing. Nor does what is on the back of a pull, for which nobody waits. */
        LOWER_AT_SLAVE,
        /** Not taken: this slave's log does not hold what it rests on yet. The sender may send it again. */
        AHEAD_OF_LOG,
        /** Not taken: no offset (negative), or a key that the cluster cannot hold. */
        INVALID
    }
}
