package io.github.tidemarkmq.broker.manager;

import io.github.tidemarkmq.broker.progress.Commit;
import io.github.tidemarkmq.broker.progress.Key;

/** What the manager asks and tells about resets of live consumers. Implemented by package reset. Any thread. */
public interface Resets {
    /** Whether a reset is assigned that no pull has taken yet: the broker answers 15s by itself until then. */
    boolean waits(Key key);

    /**
     * A pull or a pop of the key takes the reset that waits for it.
     *
     * @param client the connection's address, as its commits have it; null for a pop, and for a pull that was held
     * @return the offset from which it continues; null if no reset waits, or not for this one
     */
    Long take(Key key, String client);

    /**
     * A pull or a pop was answered: on the thread that asked {@link #take} for it, and before the commit on its back.
     *
     * @param client the connection's address
     * @param from   from where it pulled; -1 if that is not known
     * @param next   what it was told to continue with
     */
    void pulled(Key key, String client, long from, long next);

    /** Whether a commit may proceed to the table: it is not one from before a reset. Asked once for each commit. */
    boolean admits(Commit commit);
}
