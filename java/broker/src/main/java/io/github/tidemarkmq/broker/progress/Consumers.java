package io.github.tidemarkmq.broker.progress;

/**
 * Moves live consumers to an offset that somebody else decided. Implemented by package reset. Calls come from threads
 * of {@link Progress}, one at a time for a key, in the order in which the resets were decided; they must not block, and
 * may come again for a key with another offset.
 */
public interface Consumers {
    /**
     * Move the consumers of the key to offset. Until {@link Progress#followed} has been told of that very offset,
     * {@link Progress#commit} takes nothing of the key, and queries answer the offset.
     *
     * @param before what the table held until then; -1 for no offset
     */
    void assign(Key key, long before, long offset);

    /** A reset that was assigned is over without having been followed: the key was removed, or is lost. */
    void release(Key key);

    /**
     * Whether the key is one that is only set, never assigned, because nobody pulls it: groups that end in
     * "@broadcast" (RocketMQ's BroadcastOffsetManager). The new position is taken over at once.
     */
    boolean neverPulls(Key key);
}
